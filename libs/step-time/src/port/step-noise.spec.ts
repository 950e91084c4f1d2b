import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { meanOf, noiseAt, noiseFrom } from './step-noise';

const ratios = fc.array(fc.double({ min: 0.2, max: 5, noNaN: true }), {
  minLength: 50,
  maxLength: 200,
});

describe('the spread of steps', () => {
  it('has a mean of 1 for any measurements, and keeps the shape', () => {
    fc.assert(
      fc.property(ratios, (measured) => {
        const quantiles = noiseFrom(measured)!;
        expect(meanOf(quantiles)).toBeCloseTo(1, 9);
        expect([...quantiles]).toEqual([...quantiles].sort((a, b) => a - b));
        const ends = Math.max(...measured) / Math.min(...measured);
        expect(quantiles.at(-1)! / quantiles[0]!).toBeCloseTo(ends, 6);
      }),
      { numRuns: runsOf(200) },
    );
  });

  it('is drawn with a mean of 1: the mean of evenly spaced draws', () => {
    fc.assert(
      fc.property(ratios, (measured) => {
        const quantiles = noiseFrom(measured)!;
        const draws = 20_000;
        let sum = 0;
        for (let i = 0; i < draws; i++) sum += noiseAt(quantiles, (i + 0.5) / draws);
        expect(Math.abs(sum / draws - 1)).toBeLessThan(1e-3);
      }),
      { numRuns: runsOf(30) },
    );
  });

  it('never leaves the measured range, and has the p99 of the measurements', () => {
    const measured = Array.from({ length: 1_000 }, (_, i) => 1 + (i >= 980 ? 1 : 0) + i * 1e-6);
    const quantiles = noiseFrom(measured)!;
    expect(noiseAt(quantiles, 0.99) / noiseAt(quantiles, 0.5)).toBeCloseTo(2, 1);
    expect(noiseAt(quantiles, 0)).toBe(quantiles[0]);
    expect(noiseAt(quantiles, 1 - 2 ** -53)).toBeLessThanOrEqual(quantiles.at(-1)!);
  });

  it('is undefined for fewer than 50 measurements', () => {
    expect(noiseFrom(Array.from({ length: 49 }, () => 1))).toBeUndefined();
  });
});
