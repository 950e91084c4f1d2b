import type { Micros } from '@baton/kernel';
import { countOf, type Ordered, quantilesOf, shortestOf } from './ordered';

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

export function cumulativeShare(lengths: Ordered): CumulativeShare {
  if (countOf(lengths) === 0) return { us: [], shares: [] };
  const shares = SHARES.map((share) => Math.min(1, share));
  return { us: [shortestOf(lengths), ...quantilesOf(lengths, shares)], shares: [0, ...SHARES] };
}
