import { formatTopology, type Topology } from '@baton/policies';

/** The choices for splitting a number of GPUs. */
export interface Choices {
  /** GPUs to be used, all of them. */
  readonly gpus: number;
  /** Tensor-parallel sizes that an engine of each role may have. */
  readonly prefillTp: readonly number[];
  readonly decodeTp: readonly number[];
  readonly aggregatedTp: readonly number[];
  /** Pipeline stages of aggregated engines, each on one tensor-parallel group; unset: 1. */
  readonly aggregatedStages?: number;
}

/** One way to split the GPUs. For aggregated engines both sizes are the same. */
export interface Candidate {
  readonly topology: Topology;
  readonly prefillTp: number;
  readonly decodeTp: number;
  /** Pipeline stages of aggregated engines; unset: 1. */
  readonly stages?: number;
  /** Token budget of a step, of all its engines; unset: as configured. */
  readonly maxNumBatchedTokens?: number;
  readonly gpus: number;
}

/**
 * Every split that uses all GPUs: xP:yD for each pair of sizes, then aggregated engines. Fewer
 * prefill engines come first.
 */
export function candidatesOf({ gpus, aggregatedStages: stages = 1, ...tp }: Choices): Candidate[] {
  const candidates: Candidate[] = [];
  for (const prefillTp of tp.prefillTp) {
    for (const decodeTp of tp.decodeTp) {
      for (let prefill = 1; prefill * prefillTp < gpus; prefill++) {
        const decode = (gpus - prefill * prefillTp) / decodeTp;
        if (!Number.isInteger(decode)) continue;
        const topology = { prefill, decode, aggregated: 0 };
        candidates.push({ topology, prefillTp, decodeTp, gpus });
      }
    }
  }
  for (const size of tp.aggregatedTp) {
    if (gpus % (size * stages) !== 0) continue;
    const topology = { prefill: 0, decode: 0, aggregated: gpus / (size * stages) };
    const more = stages === 1 ? {} : { stages };
    candidates.push({ topology, prefillTp: size, decodeTp: size, ...more, gpus });
  }
  return candidates;
}

/**
 * `3P5D`, with the sizes if they are not all 1: `3P5D tp2/tp1`, `4A tp2`, `4A tp2 pp2` with
 * pipeline stages, and `4A mbt1024` with a token budget of its own.
 */
export function candidateName(candidate: Candidate): string {
  const { maxNumBatchedTokens: budget } = candidate;
  return `${splitName(candidate)}${budget === undefined ? '' : ` mbt${budget}`}`;
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
