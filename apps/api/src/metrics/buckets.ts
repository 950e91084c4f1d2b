import type { HistogramSnapshot } from '@baton/contract';

/** A histogram whose observation is one short search: it is fed once per token. */
export class Buckets {
  private readonly counts: Float64Array;
  private sum = 0;
  private observed = 0;

  /** @param le upper bounds, ascending, without +Inf */
  constructor(private readonly le: readonly number[]) {
    this.counts = new Float64Array(le.length + 1);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.le.length && value > (this.le[at] as number)) at += 1;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += value;
    this.observed += 1;
  }

  snapshot(): HistogramSnapshot {
    let total = 0;
    const counts = Array.from(this.counts, (count) => (total += count));
    return { le: this.le, counts, sum: this.sum, count: this.observed };
  }
}
