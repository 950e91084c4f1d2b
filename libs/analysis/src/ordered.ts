import { mean, type Micros, quantile } from '@baton/kernel';
import { IntervalHistogram } from './interval-histogram';
import type { RequestLog } from './request-log';

/** Lengths of time in µs, in ascending order: each of them, or only their counts by length. */
export type Ordered = Float64Array | IntervalHistogram;

/** A length of each row that is counted; of a spilled log only their counts. */
export function orderedOf(
  log: RequestLog,
  isCounted: (row: number) => boolean,
  lengthOf: (row: number) => Micros,
): Ordered {
  if (log.isSpilled) {
    const counts = new IntervalHistogram();
    for (let row = 0; row < log.count; row++) if (isCounted(row)) counts.add(lengthOf(row));
    return counts;
  }
  const us = new Float64Array(log.count);
  let count = 0;
  for (let row = 0; row < log.count; row++) if (isCounted(row)) us[count++] = lengthOf(row);
  return us.subarray(0, count).sort();
}

export function countOf(lengths: Ordered): number {
  return lengths instanceof IntervalHistogram ? lengths.count : lengths.length;
}

/** NaN without lengths. */
export function meanOf(lengths: Ordered): Micros {
  return lengths instanceof IntervalHistogram ? lengths.meanUs : mean(lengths);
}

/** The shortest one; NaN without lengths. */
export function shortestOf(lengths: Ordered): Micros {
  if (countOf(lengths) === 0) return NaN;
  return lengths instanceof IntervalHistogram ? lengths.minUs : lengths[0]!;
}

/**
 * The lengths that ascending shares in 0..1 do not exceed; NaN without lengths. Between values they
 * are interpolated, as numpy does; of counts they are at most 0.4 % off above 256 µs.
 */
export function quantilesOf(lengths: Ordered, shares: readonly number[]): Micros[] {
  if (!(lengths instanceof IntervalHistogram)) return shares.map((q) => quantile(lengths, q));
  return lengths.quantilesUs(shares.map((share) => Math.max(share, Number.MIN_VALUE)));
}
