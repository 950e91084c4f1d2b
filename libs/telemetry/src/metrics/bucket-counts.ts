import type { HistogramSnapshot } from '@baton/contract';

/** The counts of one histogram, for presences: numbers that another process can show. */
export class BucketCounts {
  private readonly counts: Float64Array;
  private sum = 0;
  private observed = 0;

  /** @param le upper bounds, ascending, without +Inf */
  constructor(private readonly le: readonly number[]) {
    this.counts = new Float64Array(le.length + 1);
  }

  observe(value: number): void {
    const { le } = this;
    let bucket = 0;
    while (bucket < le.length && value > (le[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
    this.observed += 1;
  }

  /** Cumulative, as in Prometheus; the last count is that of +Inf. */
  snapshot(): HistogramSnapshot {
    let total = 0;
    const counts = Array.from(this.counts, (count) => (total += count));
    return { le: this.le, counts, sum: this.sum, count: this.observed };
  }
}

/**
 * An upper bound as the Python client of Prometheus writes it, which vLLM's rules and dashboards
 * select by: `le="1.0"`, `le="1e+06"`.
 */
export function boundLabel(le: number | string): string {
  if (typeof le === 'string') return le;
  const text = Number.isInteger(le) ? `${le}.0` : String(le);
  const point = text.indexOf('.');
  if (point <= 6) return text;
  const mantissa = `${text[0]}.${text.slice(1, point)}${text.slice(point + 1)}`;
  return `${mantissa.replace(/\.?0+$/, '')}e+0${point - 1}`;
}
