import { hashString, mean } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildLengthModel, type LengthSpec } from './length-model';

function lengths(spec: LengthSpec, count: number, seed = 1): number[] {
  const model = buildLengthModel(spec);
  return Array.from({ length: count }, (_, i) => model(seed, hashString(`request ${i}`)));
}

describe('length models', () => {
  it('gives a constant', () => {
    expect(new Set(lengths({ kind: 'constant', tokens: 17 }, 50))).toEqual(new Set([17]));
  });

  it('reaches both ends of a uniform range, and its mean', () => {
    const drawn = lengths({ kind: 'uniform', min: 3, max: 12 }, 5_000);
    expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([3, 12]);
    expect(mean(drawn)).toBeCloseTo(7.5, 0);
  });

  it('gives a lognormal its arithmetic mean', () => {
    const drawn = lengths({ kind: 'lognormal', mean: 128, sigma: 0.6 }, 50_000);
    expect(Math.abs(mean(drawn) / 128 - 1)).toBeLessThan(0.02);
    const logs = drawn.map(Math.log);
    const center = mean(logs);
    const spread = Math.sqrt(mean(logs.map((x) => (x - center) ** 2)));
    expect(Math.abs(spread / 0.6 - 1)).toBeLessThan(0.02);
  });

  it('gives a geometric its mean, from 1 token on', () => {
    const drawn = lengths({ kind: 'geometric', mean: 20 }, 50_000);
    expect(Math.abs(mean(drawn) / 20 - 1)).toBeLessThan(0.03);
    expect(Math.min(...drawn)).toBe(1);
    expect(new Set(lengths({ kind: 'geometric', mean: 1 }, 50))).toEqual(new Set([1]));
  });

  it('draws every given length', () => {
    expect(new Set(lengths({ kind: 'empirical', tokens: [5, 7, 100] }, 200))).toEqual(
      new Set([5, 7, 100]),
    );
  });

  it('fills the buckets of a histogram by weight, and each bucket evenly', () => {
    const buckets = [
      { min: 1, max: 10, weight: 1 },
      { min: 100, max: 119, weight: 3 },
    ];
    const drawn = lengths({ kind: 'histogram', buckets }, 20_000);
    const long = drawn.filter((length) => length >= 100);
    expect(Math.abs(long.length / drawn.length - 0.75)).toBeLessThan(0.01);
    expect(mean(long)).toBeCloseTo(109.5, 0);
    expect(new Set(drawn)).toHaveLength(30);
  });

  it('clamps lengths to the bounds', () => {
    const drawn = lengths({ kind: 'lognormal', mean: 100, sigma: 2, min: 20, max: 200 }, 2_000);
    expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([20, 200]);
  });

  it.each<LengthSpec>([
    { kind: 'constant', tokens: 0 },
    { kind: 'constant', tokens: 1.5 },
    { kind: 'uniform', min: 5, max: 4 },
    { kind: 'lognormal', mean: 0, sigma: 1 },
    { kind: 'geometric', mean: 0.5 },
    { kind: 'empirical', tokens: [] },
    { kind: 'histogram', buckets: [] },
    { kind: 'histogram', buckets: [{ min: 5, max: 4, weight: 1 }] },
    { kind: 'histogram', buckets: [{ min: 1, max: 4, weight: 0 }] },
  ])('refuses %j', (spec) => {
    expect(() => buildLengthModel(spec)).toThrow();
  });

  it('depends only on seed and request, and gives whole numbers from 1', () => {
    const specs: LengthSpec[] = [
      { kind: 'uniform', min: 1, max: 50 },
      { kind: 'lognormal', mean: 30, sigma: 3 },
      { kind: 'geometric', mean: 30 },
      { kind: 'empirical', tokens: [1, 2, 3] },
      { kind: 'histogram', buckets: [{ min: 2, max: 40, weight: 2 }] },
    ];
    const integer = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(fc.constantFrom(...specs), integer, integer, (spec, seed, hash) => {
        const length = buildLengthModel(spec)(seed, hash);
        const again = buildLengthModel(spec);
        again(seed, hash + 1);
        expect(again(seed, hash)).toBe(length);
        expect(Number.isInteger(length) && length >= 1).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('changes with the seed', () => {
    const spec: LengthSpec = { kind: 'uniform', min: 1, max: 1_000 };
    expect(lengths(spec, 20, 1)).not.toEqual(lengths(spec, 20, 2));
  });
});
