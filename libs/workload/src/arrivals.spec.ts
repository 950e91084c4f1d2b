import { mean, RandomStream } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ArrivalLimits, type ArrivalSpec, drawArrivals } from './arrivals';

const draw = (spec: ArrivalSpec, limits: ArrivalLimits | number, seed = 1): Float64Array =>
  drawArrivals(
    spec,
    typeof limits === 'number' ? { count: limits } : limits,
    RandomStream.root(seed).stream('arrivals'),
  );

/** Mean and coefficient of variation of the gaps, including the one before the first arrival. */
function gapsOf(arrivalUs: Float64Array): { mean: number; variation: number } {
  const gaps = Array.from(arrivalUs, (at, i) => at - (arrivalUs[i - 1] ?? 0));
  const gap = mean(gaps);
  const variance = mean(gaps.map((each) => (each - gap) ** 2));
  return { mean: gap, variation: Math.sqrt(variance) / gap };
}

const specs = fc.oneof(
  fc.record({
    kind: fc.constant('poisson' as const),
    ratePerSecond: fc.double({ min: 0.1, max: 1e4, noNaN: true }),
  }),
  fc.record({
    kind: fc.constant('gamma' as const),
    ratePerSecond: fc.double({ min: 0.1, max: 1e4, noNaN: true }),
    burstiness: fc.double({ min: 0.1, max: 20, noNaN: true }),
  }),
  fc.record({
    kind: fc.constant('constant' as const),
    ratePerSecond: fc.double({ min: 0.1, max: 1e4, noNaN: true }),
  }),
  fc.record({
    kind: fc.constant('ramp' as const),
    strategy: fc.constantFrom('linear' as const, 'exponential' as const),
    fromRatePerSecond: fc.double({ min: 0.1, max: 1e4, noNaN: true }),
    toRatePerSecond: fc.double({ min: 0.1, max: 1e4, noNaN: true }),
    burstiness: fc.double({ min: 0.1, max: 20, noNaN: true }),
  }),
  fc.constant({ kind: 'at-once' as const }),
);

describe('drawArrivals', () => {
  it('gives ascending whole microseconds, equal for equal seeds', () => {
    fc.assert(
      fc.property(specs, fc.nat(200), fc.nat(), fc.boolean(), (spec, count, seed, exactRate) => {
        const arrivalUs = draw(spec, { count, exactRate }, seed);
        expect(arrivalUs.length).toBe(count);
        expect(arrivalUs.every((at) => Number.isInteger(at) && at >= 0)).toBe(true);
        expect(arrivalUs).toEqual(arrivalUs.slice().sort());
        expect(arrivalUs).toEqual(draw(spec, { count, exactRate }, seed));
      }),
    );
    const poisson = { kind: 'poisson', ratePerSecond: 1 } as const;
    expect(draw(poisson, 10, 1)).not.toEqual(draw(poisson, 10, 2));
  });

  it('keeps a constant rate over a long time with gaps in whole microseconds', () => {
    const arrivalUs = draw({ kind: 'constant', ratePerSecond: 3 }, 3_001);
    expect(Array.from(arrivalUs.subarray(0, 4))).toEqual([0, 333_333, 666_667, 1_000_000]);
    expect(arrivalUs[3_000]).toBe(1_000_000_000);
  });

  it('has the rate and the variance of a Poisson process', () => {
    const { mean, variation } = gapsOf(draw({ kind: 'poisson', ratePerSecond: 50 }, 20_000));
    expect(Math.abs(mean / 20_000 - 1)).toBeLessThan(0.03);
    expect(Math.abs(variation - 1)).toBeLessThan(0.03);
  });

  it.each([0.25, 1, 4])(
    'has gaps of gamma shape %d with a variation of 1 / sqrt(shape)',
    (burstiness) => {
      const { mean, variation } = gapsOf(
        draw({ kind: 'gamma', ratePerSecond: 50, burstiness }, 40_000),
      );
      expect(Math.abs(mean / 20_000 - 1)).toBeLessThan(0.03);
      expect(Math.abs(variation * Math.sqrt(burstiness) - 1)).toBeLessThan(0.05);
    },
  );

  it('ends on count / rate with an exact rate', () => {
    for (const seed of [1, 2, 3]) {
      const limits = { count: 500, exactRate: true };
      const spec = { kind: 'gamma', ratePerSecond: 7, burstiness: 0.5 } as const;
      expect(draw(spec, limits, seed).at(-1)).toBe(Math.round(500e6 / 7));
    }
  });

  it('ramps from one rate to another by index', () => {
    const ends = { fromRatePerSecond: 1, toRatePerSecond: 100, burstiness: 1000 };
    const linear = draw({ kind: 'ramp', strategy: 'linear', ...ends }, 1_000);
    const exponential = draw({ kind: 'ramp', strategy: 'exponential', ...ends }, 1_000);
    const gapMs = (arrivalUs: Float64Array, i: number): number =>
      ((arrivalUs[i + 5] ?? 0) - (arrivalUs[i - 5] ?? 0)) / 10_000;
    expect(gapMs(linear, 500)).toBeCloseTo(1_000 / 50.5, -0.5);
    expect(gapMs(exponential, 500)).toBeCloseTo(1_000 / 10, -1);
    for (const ramp of [linear, exponential]) {
      expect(Math.abs((ramp[0] ?? 0) / 1e6 - 1)).toBeLessThan(0.2);
      expect(Math.abs(gapMs(ramp, 990) / 10 - 1)).toBeLessThan(0.2);
    }
  });

  it('ends after a duration', () => {
    const limits = { count: Infinity, durationUs: 10e6 };
    const constant = draw({ kind: 'constant', ratePerSecond: 10 }, limits);
    expect([constant.length, constant.at(-1)]).toEqual([100, 9_900_000]);
    const poisson = draw({ kind: 'poisson', ratePerSecond: 100 }, limits);
    expect(Math.abs(poisson.length / 1000 - 1)).toBeLessThan(0.1);
    expect(poisson.at(-1)).toBeLessThan(10e6);
    expect(() => draw({ kind: 'at-once' }, limits)).toThrow(/need a limit/);
    expect(() => draw({ kind: 'constant', ratePerSecond: 1 }, Infinity)).toThrow(/need a limit/);
  });

  it.each([
    { kind: 'poisson', ratePerSecond: 0 },
    { kind: 'constant', ratePerSecond: Infinity },
    { kind: 'gamma', ratePerSecond: 1, burstiness: 0 },
    { kind: 'ramp', strategy: 'linear', fromRatePerSecond: -1, toRatePerSecond: 1, burstiness: 1 },
  ] as const)('refuses %j', (spec) => {
    expect(() => draw(spec, 1)).toThrow(/invalid (arrival rate|burstiness)/);
  });
});
