import { type Micros, quantile } from '@baton/kernel';
import type { IntervalHistogram } from './interval-histogram';

/**
 * A cumulative distribution as a curve: the share `shares[i]` of all values is at most `us[i]`.
 * Both ascend.
 */
export interface CumulativeShare {
  readonly us: readonly Micros[];
  readonly shares: readonly number[];
}

const UPPER_TAIL = 0.99;
const BODY_POINTS = 396;
const TAIL_POINTS = 100;

/** Below 500 points for any number of values, a fifth of them for the last percent. */
const SHARES: readonly number[] = [
  ...Array.from({ length: BODY_POINTS }, (_none, i) => ((i + 1) * UPPER_TAIL) / BODY_POINTS),
  ...Array.from({ length: TAIL_POINTS }, (_none, i) => {
    return UPPER_TAIL + ((i + 1) * (1 - UPPER_TAIL)) / TAIL_POINTS;
  }),
];

export function cumulativeShare(ascendingUs: Float64Array): CumulativeShare {
  if (ascendingUs.length === 0) return { us: [], shares: [] };
  const us = [ascendingUs[0]!, ...SHARES.map((share) => quantile(ascendingUs, Math.min(1, share)))];
  return { us, shares: [0, ...SHARES] };
}

export function cumulativeShareOfGaps(gaps: IntervalHistogram): CumulativeShare {
  if (gaps.count === 0) return { us: [], shares: [] };
  const us = [gaps.minUs, ...gaps.quantilesUs(SHARES.map((share) => Math.min(1, share)))];
  return { us, shares: [0, ...SHARES] };
}
