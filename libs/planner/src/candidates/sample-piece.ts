import { type Piece, WHOLE } from '@baton/workload';
import type { TaskResult } from './plan-task';

/** Fewer requests give no reliable rate. */
const FEWEST_REQUESTS = 200;
/**
 * Above these ratios of arrivals to completions, requests arrive nearly together. A sample decides
 * which designs stay, so it must be longer than a window, in which two designs are compared.
 */
export const MOST_BURST = { sample: 2, window: 3 } as const;

/** A sample of `share` of a workload. A workload with few requests is always taken whole. */
export function samplePiece(share: number, requests: number): Piece {
  const own = Math.max(share, FEWEST_REQUESTS / requests);
  return own >= 1 ? WHOLE : { kind: 'sample', share: own };
}

/**
 * Whether the found rate is that of a burst, which is in time however fast it arrives. Such a run
 * is too short to rank a design.
 *
 * @param most  see `MOST_BURST`
 * @param turns  mean number of requests of a conversation
 */
export function isBurst(
  result: Pick<TaskResult, 'rate' | 'completedRate'> | undefined,
  { turns, most }: { readonly turns: number; readonly most: number },
): boolean {
  return result !== undefined && result.rate * turns > most * result.completedRate;
}
