import { type Piece, WHOLE } from '@baton/workload';
import type { TaskResult } from './plan-task';

/** Fewer requests give no reliable rate. */
const FEWEST_REQUESTS = 200;
/** Above this ratio of arrivals to completions, requests arrive nearly together. */
const MOST_BURST = 1.25;

/** A sample of `share` of a workload. A workload with few requests is always taken whole. */
export function samplePiece(share: number, requests: number): Piece {
  const own = Math.max(share, FEWEST_REQUESTS / requests);
  return own >= 1 ? WHOLE : { kind: 'sample', share: own };
}

/**
 * Whether the found rate is that of a burst, which is in time however fast it arrives. Such a run
 * is too short to rank a design.
 *
 * @param turns  mean number of requests of a conversation
 */
export function isBurst(
  result: Pick<TaskResult, 'rate' | 'completedRate'> | undefined,
  { turns }: { readonly turns: number },
): boolean {
  return result !== undefined && result.rate * turns > MOST_BURST * result.completedRate;
}
