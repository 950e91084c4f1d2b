import { mean } from '@baton/kernel';

/**
 * Mean of the middle half. It ignores pauses like the median, and handles two tokens that arrive
 * together. NaN without values.
 */
export function midMean(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  const cut = Math.floor(ascending.length / 4);
  return mean(ascending.slice(cut, ascending.length - cut));
}

/**
 * Linear interpolation of some points, constant before the first and after the last. 0 without
 * points.
 */
export function straight(
  given: readonly (readonly [x: number, y: number])[],
): (x: number) => number {
  const points = [...given].sort(([a], [b]) => a - b);
  return (x) => {
    const next = points.findIndex((point) => point[0] >= x);
    const [last, high] = [points.at(-1), points[next]];
    if (high === undefined || last === undefined) return last?.[1] ?? 0;
    const low = points[next - 1] ?? high;
    const share = high === low ? 0 : (x - low[0]) / (high[0] - low[0]);
    return low[1] + share * (high[1] - low[1]);
  };
}
