import { assert } from '../assert';

/**
 * The value below which a share of 0..1 of ascending values lies, interpolated between its
 * neighbours as numpy does by default. NaN without values.
 */
export function quantile(ascending: ArrayLike<number>, share: number): number {
  assert(share >= 0 && share <= 1, `a share lies in 0..1: ${share}`);
  if (ascending.length === 0) return NaN;
  const position = share * (ascending.length - 1);
  const below = Math.floor(position);
  const low = ascending[below]!;
  const high = ascending[Math.min(below + 1, ascending.length - 1)]!;
  return low + (high - low) * (position - below);
}

/** The median of values in any order: the mean of the two middle ones of an even number. */
export function median(values: Iterable<number>): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}
