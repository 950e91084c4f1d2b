import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IntervalHistogram, type PlainHistogram } from './interval-histogram';

const SHARES = [0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 1];

function exactQuantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(q * sorted.length) - 1]!;
}

function histogramOf(values: readonly number[]): IntervalHistogram {
  const histogram = new IntervalHistogram();
  for (const value of values) histogram.add(value);
  return histogram;
}

describe('quantiles of intervals', () => {
  it('are exact below 256 µs and at most 1/256 off above, for any lengths', () => {
    const lengths = fc.array(
      fc.oneof(fc.nat(255), fc.nat(100_000), fc.integer({ min: 0, max: 2 ** 48 })),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(lengths, fc.constantFrom(...SHARES), (values, q) => {
        const exact = exactQuantile(values, q);
        const error = Math.abs(histogramOf(values).quantileUs(q) - exact);
        expect(error).toBeLessThanOrEqual(exact < 256 ? 0 : exact / 256);
      }),
    );
  });

  it('are the same one by one and in one pass', () => {
    const histogram = histogramOf([5, 5, 900, 1_000, 40_000, 2 ** 33]);
    expect(histogram.quantilesUs(SHARES)).toEqual(SHARES.map((q) => histogram.quantileUs(q)));
  });

  it('are NaN without an interval, and lie in (0, 1]', () => {
    expect(new IntervalHistogram().quantileUs(0.5)).toBeNaN();
    expect(() => histogramOf([1]).quantileUs(0)).toThrow(/quantile/);
  });

  it('hold at the limits of 32-bit integers, and stop at the last bucket', () => {
    for (const us of [2 ** 31 - 1.5, 2 ** 31 - 1, 2 ** 31 - 0.25, 2 ** 31, 2 ** 49, 2 ** 60]) {
      const histogram = histogramOf([0, us, us]);
      expect(Math.abs(histogram.quantileUs(0.9) / us - 1)).toBeLessThan(us > 2 ** 50 ? 1 : 1 / 256);
      expect(histogram.quantileUs(1)).toBeLessThanOrEqual(us);
    }
  });
});

describe('a leap', () => {
  const leap = fc.record({
    firstUs: fc.integer({ min: 0, max: 2 ** 33 }),
    growthUs: fc.integer({ min: 0, max: 2_000 }),
    steps: fc.integer({ min: 1, max: 400 }),
    times: fc.integer({ min: 1, max: 256 }),
    isFalling: fc.boolean(),
  });

  it('counts as its steps added one by one', () => {
    fc.assert(
      fc.property(leap, ({ firstUs, growthUs, steps, times, isFalling }) => {
        const rising = Array.from({ length: steps }, (_none, j) => firstUs + growthUs * j);
        const lengths = isFalling ? rising.reverse() : rising;
        const singles = new IntervalHistogram();
        for (const length of lengths) singles.add(length, times);
        const leaped = new IntervalHistogram();
        const spanUs = lengths.reduce((sum, length) => sum + length, 0);
        leaped.addLinear(lengths[0]!, spanUs, steps, times);
        expect(leaped.count).toBe(singles.count);
        expect(leaped.sumUs).toBe(singles.sumUs);
        expect(leaped.maxUs).toBeCloseTo(singles.maxUs, 3);
        expect(leaped.minUs).toBeCloseTo(singles.minUs, 3);
        const differences = SHARES.map((q) => leaped.quantileUs(q) - singles.quantileUs(q));
        const width = Math.max(1, singles.maxUs / 256);
        for (const difference of differences) expect(Math.abs(difference)).toBeLessThan(width);
      }),
    );
  });

  it('of exact binary fractions fills the same buckets', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5_000 }), fc.nat(64), (firstUs, growthUs) => {
        const steps = 128;
        const leaped = new IntervalHistogram();
        const spanUs = steps * firstUs + (growthUs * steps * (steps - 1)) / 2;
        leaped.addLinear(firstUs, spanUs, steps, 3);
        const ranks = Array.from({ length: steps }, (_none, j) => (j + 1) / steps);
        const singles = new IntervalHistogram();
        for (let j = 0; j < steps; j++) singles.add(firstUs + growthUs * j, 3);
        expect(leaped.quantilesUs(ranks)).toEqual(singles.quantilesUs(ranks));
      }),
    );
  });

  it('of rounded boundaries keeps the exact sum', () => {
    const histogram = new IntervalHistogram();
    histogram.addLinear(20_001, 200_006, 10, 7);
    expect(histogram.sumUs).toBe(7 * 200_006);
    expect(histogram.count).toBe(70);
  });

  it('of no step or no sequence adds nothing', () => {
    const histogram = new IntervalHistogram();
    histogram.addLinear(5, 0, 0, 3);
    histogram.addLinear(5, 5, 1, 0);
    expect([histogram.count, histogram.sumUs, histogram.minUs]).toEqual([0, 0, Infinity]);
  });
});

describe('merged histograms', () => {
  it('equal one histogram of all intervals', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e9)), fc.array(fc.nat(1e9)), (left, right) => {
        const merged = histogramOf(left);
        merged.merge(histogramOf(right));
        const whole = histogramOf([...left, ...right]);
        expect(merged.quantilesUs(SHARES)).toEqual(whole.quantilesUs(SHARES));
        expect(merged.meanUs).toEqual(whole.meanUs);
      }),
    );
  });
});

describe('a count up to a length', () => {
  it('is a running share of all intervals', () => {
    const histogram = histogramOf([10, 20, 30, 5_000]);
    expect([9, 10, 29, 30, 4_900, 5_000].map((us) => histogram.countUpTo(us))).toEqual([
      0, 1, 2, 3, 3, 4,
    ]);
  });

  it('is the same after its way to another process', () => {
    const histogram = new IntervalHistogram();
    for (const us of [3, 400, 70_000, 70_010]) histogram.add(us, 2);
    const copy = JSON.parse(JSON.stringify(histogram.toPlain())) as PlainHistogram;
    expect(IntervalHistogram.fromPlain(copy)).toEqual(histogram);
    const empty = new IntervalHistogram();
    const plain = JSON.parse(JSON.stringify(empty.toPlain())) as PlainHistogram;
    expect(IntervalHistogram.fromPlain(plain)).toEqual(empty);
  });
});
