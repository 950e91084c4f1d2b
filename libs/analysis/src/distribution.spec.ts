import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quantile } from '@baton/kernel';
import { cumulativeShare } from './cumulative-share';
import { distributionOf } from './distribution';
import { IntervalHistogram } from './interval-histogram';

const NOTHING = { mean: null, p50: null, p90: null, p95: null, p99: null, max: null };

describe('a distribution', () => {
  it('has the default percentiles of numpy', () => {
    // numpy.percentile([1000, 2000, 3000, 4000, 10000], [50, 90, 95, 99, 100])
    const values = Float64Array.of(1_000, 2_000, 3_000, 4_000, 10_000);
    expect(distributionOf(values)).toEqual({
      mean: 4,
      p50: 3,
      p90: 7.6,
      p95: 8.8,
      p99: 9.76,
      max: 10,
    });
  });

  it('without values is null throughout', () => {
    expect(distributionOf(new Float64Array(0))).toEqual(NOTHING);
    expect(distributionOf(new IntervalHistogram())).toEqual(NOTHING);
  });

  it('of counted gaps has exact mean and maximum', () => {
    const gaps = new IntervalHistogram();
    gaps.add(20_001, 3);
    gaps.add(60_005);
    expect(distributionOf(gaps)).toMatchObject({ mean: 30.002, max: 60.005 });
  });

  it('ascends with the share and stays within the values', () => {
    const values = fc.array(fc.double({ noNaN: true, min: 0, max: 1e12 }), { minLength: 1 });
    const share = fc.double({ noNaN: true, min: 0, max: 1 });
    fc.assert(
      fc.property(values, share, share, (given, one, other) => {
        const ascending = Float64Array.from(given).sort();
        const low = quantile(ascending, Math.min(one, other));
        const high = quantile(ascending, Math.max(one, other));
        expect(low).toBeLessThanOrEqual(high + 1e-3);
        expect(low).toBeGreaterThanOrEqual(ascending[0]!);
        expect(high).toBeLessThanOrEqual(ascending.at(-1)! + 1e-3);
      }),
    );
  });
});

describe('a cumulative share', () => {
  it('is a rising curve from the smallest to the largest value with at most 500 points', () => {
    const values = Float64Array.from({ length: 30_000 }, (_none, i) => i * i);
    const { us, shares } = cumulativeShare(values);
    expect(us.length).toBe(shares.length);
    expect(us.length).toBeLessThanOrEqual(500);
    expect([us[0], us.at(-1)]).toEqual([0, 29_999 ** 2]);
    expect(shares.at(-1)).toBeCloseTo(1, 9);
    expect([...us].sort((a, b) => a - b)).toEqual(us);
    expect([...shares].sort((a, b) => a - b)).toEqual(shares);
  });

  it('without values has no curve', () => {
    expect(cumulativeShare(new Float64Array(0)).us).toEqual([]);
    expect(cumulativeShare(new IntervalHistogram()).us).toEqual([]);
  });

  it('of gaps ends at the longest one', () => {
    const gaps = new IntervalHistogram();
    gaps.add(10, 99);
    gaps.add(70_000);
    const { us } = cumulativeShare(gaps);
    expect([us[0], us.at(-1)]).toEqual([10, 70_000]);
  });
});
