import { assert, type Micros } from '@baton/kernel';

/** Buckets per power of two: values within a bucket differ by less than 1/256. */
const PER_OCTAVE = 256;
const OCTAVES = 42;

/**
 * Counts of time intervals by length. Below 256 µs exact, above in 256 buckets per power of two (a quantile is at most 0.4 % off); count, sum and
 * extremes are exact. A constant amount of memory, and adding a whole leap of steps costs the buckets it spans, not its steps.
 */
export class IntervalHistogram {
  private readonly counts = new Float64Array(PER_OCTAVE * OCTAVES);
  count = 0;
  sumUs = 0;
  maxUs = 0;
  minUs = Infinity;

  add(us: Micros, times = 1): void {
    if (times === 0) return;
    this.counts[bucketOf(us)]! += times;
    this.count += times;
    this.sumUs += us * times;
    if (us > this.maxUs) this.maxUs = us;
    if (us < this.minUs) this.minUs = us;
  }

  merge(other: IntervalHistogram): void {
    for (let i = 0; i < this.counts.length; i++) this.counts[i]! += other.counts[i]!;
    this.count += other.count;
    this.sumUs += other.sumUs;
    this.maxUs = Math.max(this.maxUs, other.maxUs);
    this.minUs = Math.min(this.minUs, other.minUs);
  }

  get meanUs(): number {
    return this.count === 0 ? NaN : this.sumUs / this.count;
  }

  /** The smallest length that a share `q` in (0, 1] of the intervals does not exceed; NaN when empty. */
  quantileUs(q: number): number {
    assert(q > 0 && q <= 1, `a quantile lies in (0, 1]: ${q}`);
    if (this.count === 0) return NaN;
    const rank = Math.ceil(q * this.count);
    let seen = 0;
    for (let bucket = 0; bucket < this.counts.length; bucket++) {
      seen += this.counts[bucket]!;
      if (seen >= rank) return Math.min(this.maxUs, Math.max(this.minUs, middleOf(bucket)));
    }
    return this.maxUs;
  }
}

function bucketOf(us: Micros): number {
  const value = Math.max(0, Math.round(us));
  if (value < PER_OCTAVE) return value;
  const octave = Math.floor(Math.log2(value)) - 8;
  const bucket = (octave + 1) * PER_OCTAVE + Math.floor(value / 2 ** octave) - PER_OCTAVE;
  return Math.min(bucket, PER_OCTAVE * OCTAVES - 1);
}

function middleOf(bucket: number): Micros {
  if (bucket < PER_OCTAVE) return bucket;
  const octave = Math.floor(bucket / PER_OCTAVE) - 1;
  const from = (PER_OCTAVE + (bucket % PER_OCTAVE)) * 2 ** octave;
  return from + (2 ** octave - 1) / 2;
}
