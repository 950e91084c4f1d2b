import { type BatonConfig, fileName } from '@baton/config';
import { formatTopology, type Topology } from '@baton/policies';

/** The choices for splitting a number of GPUs. */
export interface Choices {
  /** GPUs to be used, all of them. */
  readonly gpus: number;
  /** Tensor-parallel sizes that an engine of each role may have. */
  readonly prefillTp: readonly number[];
  readonly decodeTp: readonly number[];
  /** Sizes of aggregated engines: `stages` pipeline stages, each on one tensor-parallel group. */
  readonly aggregated: readonly { readonly tp: number; readonly stages: number }[];
}

/** Values of options of the configuration, by their keys. */
export type Settings = Partial<BatonConfig>;

/** One way to split the GPUs. For aggregated engines both sizes are the same. */
export interface Candidate {
  readonly topology: Topology;
  readonly prefillTp: number;
  readonly decodeTp: number;
  /** Pipeline stages of aggregated engines; unset: 1. */
  readonly stages?: number;
  readonly gpus: number;
  /** Values of options that differ from the configuration. */
  readonly settings: Settings;
}

/**
 * Every split that uses all GPUs: xP:yD for each pair of sizes, then aggregated engines. Fewer
 * prefill engines come first.
 */
export function candidatesOf({ gpus, aggregated, ...tp }: Choices): Candidate[] {
  const candidates: Candidate[] = [];
  for (const prefillTp of tp.prefillTp) {
    for (const decodeTp of tp.decodeTp) {
      for (let prefill = 1; prefill * prefillTp < gpus; prefill++) {
        const decode = (gpus - prefill * prefillTp) / decodeTp;
        if (!Number.isInteger(decode)) continue;
        const topology = { prefill, decode, aggregated: 0 };
        candidates.push({ topology, prefillTp, decodeTp, gpus, settings: {} });
      }
    }
  }
  for (const { tp: size, stages } of aggregated) {
    if (gpus % (size * stages) !== 0) continue;
    const topology = { prefill: 0, decode: 0, aggregated: gpus / (size * stages) };
    const sizes = { prefillTp: size, decodeTp: size, ...(stages === 1 ? {} : { stages }) };
    candidates.push({ topology, ...sizes, gpus, settings: {} });
  }
  return candidates;
}

/**
 * `3P5D`, with the sizes if they are not all 1: `3P5D tp2/tp1`, `4A tp2`, `4A tp2 pp2` with
 * pipeline stages, and the settings of its own: `8A mbt1024`, `6P2D P:mbt2048 D:mns64`.
 */
export function candidateName(candidate: Candidate): string {
  const settings = Object.entries(candidate.settings).map(([key, value]) => {
    return settingName(key, value);
  });
  return [splitName(candidate), ...settings].join(' ');
}

/** Short names of options in the names of candidates. */
export const SHORT_NAMES: Readonly<Record<string, string>> = {
  maxNumBatchedTokens: 'mbt',
  maxNumSeqs: 'mns',
  longPrefillTokenThreshold: 'lpt',
  prefillMaxNumBatchedTokens: 'P:mbt',
  prefillMaxNumSeqs: 'P:mns',
  decodeMaxNumBatchedTokens: 'D:mbt',
  decodeMaxNumSeqs: 'D:mns',
};

function settingName(key: string, value: unknown): string {
  const short = SHORT_NAMES[key];
  if (short !== undefined) return `${short}${String(value)}`;
  if (key === 'placement') return String(value);
  if (key === 'enablePrefixCaching') return value === true ? 'caching' : 'no-caching';
  return `${fileName(key)}=${String(value)}`;
}

function splitName(candidate: Candidate): string {
  const { topology, prefillTp, decodeTp, stages = 1 } = candidate;
  const name = formatTopology(topology);
  if (stages > 1) return `${name} tp${prefillTp} pp${stages}`;
  if (prefillTp === 1 && decodeTp === 1) return name;
  return topology.aggregated > 0
    ? `${name} tp${prefillTp}`
    : `${name} tp${prefillTp}/tp${decodeTp}`;
}

export function isAggregated({ topology }: Candidate): boolean {
  return topology.aggregated > 0;
}
