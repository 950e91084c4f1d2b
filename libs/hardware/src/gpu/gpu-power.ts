/** Watts of one GPU by the activity of its engine, without host and cooling. */
export interface GpuPower {
  /** A name of the catalogue. */
  readonly gpu: string;
  /** A model is loaded and no step is under way. */
  readonly idleWatts: number;
  /** Steps that only decode. */
  readonly decodeWatts: number;
  /** Steps that compute prompts, with or without decodes. */
  readonly prefillWatts: number;
  readonly source: string;
}

/** Shares of the board's limit assumed for unmeasured cards: those of the H200. */
const IDLE_PART = 0.115;
const DECODE_PART = 0.74;
const ASSUMED = 'limit of the data sheet; idle and decode assumed at the parts of it of h200';

function assumed(gpu: string, limitWatts: number): GpuPower {
  return {
    gpu,
    idleWatts: Math.round(IDLE_PART * limitWatts),
    decodeWatts: Math.round(DECODE_PART * limitWatts),
    prefillWatts: limitWatts,
    source: ASSUMED,
  };
}

/**
 * Prompts draw the limit of the board: the peaks in splitwise-sim's perf_model.csv are 1.0 to 1.09
 * times the limit at all sizes of prompts and batches (A100, Llama 2 70B, TP2). Decodes draw 0.74
 * to 0.79 of the limit in that file, with little difference between batch sizes.
 */
export const GPU_POWER: readonly GpuPower[] = [
  {
    gpu: 'a100-80g',
    idleWatts: 62,
    decodeWatts: 302,
    prefillWatts: 400,
    source:
      'limit of the data sheet; decode: splitwise-sim, perf_model.csv, mean power of Llama 2 70B ' +
      'at TP2, batches of 1 to 16 (0.755 of the limit); idle: measured, ' +
      'https://github.com/chuyishang/inference-energy',
  },
  {
    gpu: 'h100',
    idleWatts: 80,
    decodeWatts: 480,
    prefillWatts: 700,
    source:
      'limit of the data sheet; decode: vLLM, Llama 3.3 70B in FP8 at TP4, 64 requests at once, ' +
      'https://gist.github.com/lhl/bf81a9c7dfc4244c974335e1605dcf22; idle: as h200',
  },
  {
    gpu: 'h200',
    idleWatts: 80,
    decodeWatts: 517,
    prefillWatts: 700,
    source:
      'limit of the data sheet; idle and decode (vLLM, Phi-3 mini, 128 requests at once): ' +
      'measured, http://api.serialalice.pt/alice-benchmark',
  },
  {
    gpu: 'b200',
    idleWatts: 115,
    decodeWatts: 606,
    prefillWatts: 1000,
    source:
      'limit of the data sheet; decode (vLLM, Phi-3 mini, 128 requests at once): measured, ' +
      'http://api.serialalice.pt/alice-benchmark; idle: assumed at 0.115 of the limit',
  },
  assumed('a100-40g', 400),
  assumed('h800', 700),
  assumed('b300', 1100),
  assumed('gb200', 1200),
  assumed('gb300', 1400),
  assumed('l40s', 350),
  assumed('rtx-pro-6000', 600),
  assumed('rtx-4090', 450),
  assumed('rtx-5090', 575),
  assumed('mi300x', 750),
  assumed('l4', 72),
  assumed('t4', 70),
  assumed('a10', 150),
];
