/** Fewest values among which there are outliers. */
const LEAST_VALUES = 12;
/** Multiple of the usual level above which a value is an outlier. */
const BEYOND = 3;
const MOST = 0.9;

/**
 * The highest value that a scale must show. Single values far above the others are ignored, so that
 * they do not flatten the rest. 0 without values.
 */
export function robustTop(values: Iterable<number | null | undefined>): number {
  const sorted = [...values].filter((value): value is number => value != null);
  sorted.sort((a, b) => a - b);
  const highest = sorted.at(-1) ?? 0;
  if (sorted.length < LEAST_VALUES) return highest;
  const level = sorted[Math.floor(MOST * (sorted.length - 1))]!;
  if (level <= 0 || highest <= BEYOND * level) return highest;
  return sorted.findLast((value) => value <= BEYOND * level)!;
}
