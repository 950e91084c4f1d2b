import { assert, type Micros } from '@baton/kernel';

/** Buckets per power of two: values within a bucket differ by less than 1/256. */
const PER_OCTAVE = 256;
const PER_OCTAVE_BITS = 8;
const OCTAVES = 42;
const LAST_BUCKET = PER_OCTAVE * OCTAVES - 1;
const INT32_LIMIT = 2 ** 31;
/** Octaves by which lengths of 2^31 µs and more are scaled down to the range of 32-bit integers. */
const HIGH_SHIFT = 23;

/** The content of a histogram as plain numbers, for another process. */
export interface PlainHistogram {
  /** Bucket and count in turn, of the buckets that are not empty. */
  readonly buckets: readonly number[];
  readonly count: number;
  readonly sumUs: number;
  readonly maxUs: number;
  /** Null when empty. */
  readonly minUs: number | null;
}

/**
 * Counts of time intervals by length in µs. Lengths below 256 µs are exact; longer ones have 256
 * buckets per power of two, so a quantile is at most 0.4 % off. Count and sum are exact, and so are
 * the extremes of intervals added one by one. It takes a constant amount of memory. The cost of
 * adding a leap depends on the buckets that it spans, not on its steps.
 */
export class IntervalHistogram {
  private readonly counts = new Float64Array(LAST_BUCKET + 1);
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

  /**
   * Adds a leap: `steps` intervals, laid end to end over `spanUs`, whose lengths change by equal
   * amounts from `firstUs` on (the last one follows: 2 · spanUs / steps − firstUs), each counted
   * `times` times. Allocates nothing and costs the buckets between first and last.
   */
  // eslint-disable-next-line no-restricted-syntax -- an inner loop that may not allocate options
  addLinear(firstUs: Micros, spanUs: Micros, steps: number, times: number): void {
    if (steps === 0 || times === 0) return;
    const lastUs = steps === 1 ? firstUs : Math.max(0, (2 * spanUs) / steps - firstUs);
    const lowUs = Math.min(firstUs, lastUs);
    const highUs = Math.max(firstUs, lastUs);
    this.count += steps * times;
    this.sumUs += spanUs * times;
    if (highUs > this.maxUs) this.maxUs = highUs;
    if (lowUs < this.minUs) this.minUs = lowUs;
    const bucket = bucketOf(lowUs);
    if (bucket === bucketOf(highUs)) this.counts[bucket]! += steps * times;
    else this.spread(lowUs, (highUs - lowUs) / (steps - 1), steps, times);
  }

  merge(other: IntervalHistogram): void {
    for (let i = 0; i < this.counts.length; i++) this.counts[i]! += other.counts[i]!;
    this.count += other.count;
    this.sumUs += other.sumUs;
    this.maxUs = Math.max(this.maxUs, other.maxUs);
    this.minUs = Math.min(this.minUs, other.minUs);
  }

  static fromPlain({ buckets, count, sumUs, maxUs, minUs }: PlainHistogram): IntervalHistogram {
    const histogram = new IntervalHistogram();
    for (let i = 0; i + 1 < buckets.length; i += 2) {
      histogram.counts[buckets[i]!] = buckets[i + 1]!;
    }
    return Object.assign(histogram, { count, sumUs, maxUs, minUs: minUs ?? Infinity });
  }

  toPlain(): PlainHistogram {
    const { count, sumUs, maxUs, minUs } = this;
    const buckets: number[] = [];
    if (count > 0) {
      this.counts.forEach((times, bucket) => {
        if (times > 0) buckets.push(bucket, times);
      });
    }
    return { buckets, count, sumUs, maxUs, minUs: count === 0 ? null : minUs };
  }

  get meanUs(): number {
    return this.count === 0 ? NaN : this.sumUs / this.count;
  }

  /**
   * The smallest length that a share `q` in (0, 1] of the intervals does not exceed. NaN when
   * empty.
   */
  quantileUs(q: number): number {
    return this.quantilesUs([q])[0]!;
  }

  /** `quantileUs` of ascending shares, in one pass. */
  quantilesUs(shares: readonly number[]): number[] {
    let bucket = -1;
    let seen = 0;
    return shares.map((q) => {
      assert(q > 0 && q <= 1, `a quantile must lie in (0, 1]: ${q}`);
      if (this.count === 0) return NaN;
      const rank = Math.ceil(q * this.count);
      if (rank >= this.count) return this.maxUs;
      while (seen < rank && bucket < LAST_BUCKET) seen += this.counts[++bucket]!;
      return Math.min(this.maxUs, Math.max(this.minUs, middleOf(bucket)));
    });
  }

  /** Number of intervals not longer than `us`, exact to the bucket of `us`. */
  countUpTo(us: Micros): number {
    if (us >= this.maxUs) return this.count;
    const last = bucketOf(us);
    let seen = 0;
    for (let bucket = 0; bucket <= last; bucket++) seen += this.counts[bucket]!;
    return seen;
  }

  /** Lengths `lowUs + j · growthUs` for j < steps, bucket by bucket. */
  // eslint-disable-next-line no-restricted-syntax -- as above
  private spread(lowUs: Micros, growthUs: Micros, steps: number, times: number): void {
    let done = 0;
    for (let bucket = bucketOf(lowUs); done < steps; bucket++) {
      const below =
        bucket >= LAST_BUCKET ? steps : Math.ceil((ENDS[bucket]! - 0.5 - lowUs) / growthUs);
      const until = Math.min(steps, Math.max(done, below));
      this.counts[bucket]! += (until - done) * times;
      done = until;
    }
  }
}

/**
 * Bucket b of octave o (0 for lengths from 256 to 511) holds 2^o lengths; the length is rounded
 * first.
 */
function bucketOf(us: Micros): number {
  if (us + 0.5 >= INT32_LIMIT) return bucketOfLong(us);
  const value = (us + 0.5) | 0;
  if (value < PER_OCTAVE) return value < 0 ? 0 : value;
  const octave = 31 - Math.clz32(value) - PER_OCTAVE_BITS;
  return octave * PER_OCTAVE + (value >> octave);
}

function bucketOfLong(us: Micros): number {
  const shifted = Math.round(us) / 2 ** HIGH_SHIFT;
  if (shifted >= INT32_LIMIT) return LAST_BUCKET;
  const octave = 31 - Math.clz32(shifted) - PER_OCTAVE_BITS;
  return Math.min(LAST_BUCKET, (octave + HIGH_SHIFT) * PER_OCTAVE + (shifted >> octave));
}

/** The first length behind each bucket. */
const ENDS = Float64Array.from({ length: LAST_BUCKET + 1 }, (_none, bucket) => {
  const octave = Math.max(0, Math.floor(bucket / PER_OCTAVE) - 1);
  return (bucket - octave * PER_OCTAVE + 1) * 2 ** octave;
});

function middleOf(bucket: number): Micros {
  const first = bucket === 0 ? 0 : ENDS[bucket - 1]!;
  return (first + ENDS[bucket]! - 1) / 2;
}
