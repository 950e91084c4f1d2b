/**
 * Median and mean of a histogram, over all its series; quantiles are interpolated within their
 * bucket.
 */
export function histogramOf(exposition: string, family: string): Record<string, number> {
  const { sum, count } = new Buckets(exposition, family);
  return { p50: histogramQuantile(exposition, family, 0.5), mean: sum / count, count };
}

export function histogramQuantile(exposition: string, family: string, quantile: number): number {
  const { cumulative, count } = new Buckets(exposition, family);
  let [lowerBound, lowerCount] = [0, 0];
  for (const [bound, below] of cumulative) {
    if (below >= count * quantile) {
      if (bound === Infinity) return lowerBound;
      const share = (count * quantile - lowerCount) / Math.max(1, below - lowerCount);
      return lowerBound + share * (bound - lowerBound);
    }
    [lowerBound, lowerCount] = [bound, below];
  }
  return NaN;
}

class Buckets {
  readonly sum: number;
  readonly count: number;
  /** Upper bounds with the counts at or below them, ascending. */
  readonly cumulative: readonly (readonly [number, number])[];

  constructor(exposition: string, family: string) {
    const lines = exposition.split('\n').filter((line) => line.startsWith(family));
    const total = (suffix: string): number =>
      lines
        .filter((line) => line.startsWith(family + suffix))
        .reduce((sum, line) => sum + valueOf(line), 0);
    this.sum = total('_sum');
    this.count = total('_count');
    const below = new Map<number, number>();
    for (const line of lines) {
      const le = /_bucket\{.*le="([^"]+)"/.exec(line)?.[1];
      if (le === undefined) continue;
      const bound = le === '+Inf' ? Infinity : Number(le);
      below.set(bound, (below.get(bound) ?? 0) + valueOf(line));
    }
    this.cumulative = [...below].sort(([x], [y]) => x - y);
  }
}

function valueOf(line: string): number {
  return Number(line.slice(line.lastIndexOf(' ') + 1));
}
