/** Price of an hour of one GPU on demand. */
export interface GpuPrice {
  /** A name of the catalogue. */
  readonly gpu: string;
  /** US dollars per GPU and hour, on demand, without tax. */
  readonly usdPerHour: number;
  /** The day on which the price was read, ISO 8601. */
  readonly asOf: string;
  readonly source: string;
}

const RUNPOD = 'RunPod, Secure Cloud: https://www.runpod.io/pricing';
const LAMBDA = 'Lambda, eight GPUs: https://lambda.ai/instances';
const AKASH = 'Akash, lowest offer: https://akash.network/pricing/gpus';
const OPENRELAY = 'OpenRelay: https://openrelay.inc/pricing';

/**
 * List prices on demand, of one provider per GPU. Providers differ by up to five times for the same
 * GPU, so users should replace these defaults (docs/planning.md).
 */
export const GPU_PRICES: readonly GpuPrice[] = [
  { gpu: 'a100-40g', usdPerHour: 1.99, asOf: '2026-09-20', source: LAMBDA },
  { gpu: 'a100-80g', usdPerHour: 1.79, asOf: '2026-11-09', source: RUNPOD },
  { gpu: 'h100', usdPerHour: 3.99, asOf: '2026-11-09', source: RUNPOD },
  { gpu: 'h200', usdPerHour: 4.59, asOf: '2026-10-07', source: RUNPOD },
  { gpu: 'b200', usdPerHour: 6.79, asOf: '2026-10-07', source: RUNPOD },
  { gpu: 'b300', usdPerHour: 7.89, asOf: '2026-10-07', source: RUNPOD },
  { gpu: 'rtx-4090', usdPerHour: 0.29, asOf: '2026-09-20', source: OPENRELAY },
  { gpu: 'rtx-pro-6000', usdPerHour: 2.04, asOf: '2026-09-20', source: AKASH },
];
