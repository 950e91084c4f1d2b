import { type Candidate, isAggregated } from './candidates';

/** A candidate with its estimate by rate matching. */
export interface Estimated {
  readonly candidate: Candidate;
  /** Requests per second; 0: not even one sequence at a time keeps the SLO. */
  readonly estimatedRate: number;
}

/**
 * The candidates worth a simulation: those whose estimate is at least `share` of the best split's,
 * the `most` best of them, and every aggregated one, so that the comparison never relies on
 * estimates. In the given order.
 */
export function promising(
  estimated: readonly Estimated[],
  { share, most }: { share: number; most: number },
): Estimated[] {
  const splits = estimated.filter(({ candidate }) => !isAggregated(candidate));
  const best = splits.reduce((top, { estimatedRate }) => Math.max(top, estimatedRate), 0);
  const chosen = splits
    .filter(({ estimatedRate }) => estimatedRate > 0 && estimatedRate >= share * best)
    // Sorting is stable, so equals stay in their order.
    .sort((a, b) => b.estimatedRate - a.estimatedRate)
    .slice(0, most);
  return estimated.filter((one) => {
    return isAggregated(one.candidate) ? one.estimatedRate > 0 : chosen.includes(one);
  });
}
