import { RandomStream } from '@baton/kernel';

export const BLOCK_TOKENS = 16;
const PREFIXES = 1_000;
const PREFIX_BLOCKS = 512;
export const CONTENT_COUNT = PREFIXES * PREFIX_BLOCKS;

/** The workload of the replay budget as columns: half of a prompt's blocks come from one of 1,000 prefixes, the rest is private. */
export interface Load {
  readonly count: number;
  readonly arrivalUs: Float64Array;
  readonly promptTokens: Int32Array;
  readonly outputTokens: Int32Array;
  /** Content ids of all prefixes, one after the other; dense from 1. */
  readonly contentIds: Int32Array;
  readonly contentFrom: Int32Array;
  readonly contentCount: Int32Array;
}

export function poissonLoad(count: number, requestsPerSecond: number): Load {
  const root = RandomStream.root(1);
  const arrivals = root.stream('arrivals');
  const prompts = root.stream('prompts');
  const outputs = root.stream('outputs');
  const prefixes = root.stream('prefixes');
  const load: Load = {
    count,
    arrivalUs: new Float64Array(count),
    promptTokens: new Int32Array(count),
    outputTokens: new Int32Array(count),
    contentIds: Int32Array.from({ length: CONTENT_COUNT }, (_, i) => i + 1),
    contentFrom: new Int32Array(count),
    contentCount: new Int32Array(count),
  };
  let atUs = 0;
  for (let row = 0; row < count; row++) {
    atUs += arrivals.exponential(1e6 / requestsPerSecond);
    const promptTokens = bounded(prompts.lognormal(1_024, 1));
    load.arrivalUs[row] = Math.round(atUs);
    load.promptTokens[row] = promptTokens;
    load.outputTokens[row] = bounded(outputs.lognormal(128, 1));
    load.contentFrom[row] = prefixes.integer(PREFIXES) * PREFIX_BLOCKS;
    load.contentCount[row] = Math.floor(promptTokens / BLOCK_TOKENS / 2);
  }
  return load;
}

/** At most twice the length of a prefix, which is half a prompt. */
function bounded(tokens: number): number {
  return Math.min(2 * PREFIX_BLOCKS * BLOCK_TOKENS, Math.max(1, Math.round(tokens)));
}
