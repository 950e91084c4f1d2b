import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRate } from './find-rate';

function search(limit: number, startRate: number): ReturnType<typeof findRate<number>> {
  return findRate({
    startRate,
    tolerance: 0.02,
    mostTries: 40,
    tryRate: (rate) => (rate <= limit ? rate : undefined),
  });
}

describe('findRate', () => {
  it('finds the limit from either side, to within its tolerance', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 1e4, noNaN: true }),
        fc.double({ min: 0.02, max: 100, noNaN: true }),
        (limit, factor) => {
          const { rate, result } = search(limit, limit * factor);
          expect(rate).toBeLessThanOrEqual(limit);
          expect(rate * 1.02).toBeGreaterThanOrEqual(limit);
          expect(result).toBe(rate);
        },
      ),
    );
  });

  it('gives up on a candidate that keeps no rate', () => {
    const { rate, result, tries } = search(0, 10);
    expect([rate, result]).toEqual([0, undefined]);
    expect(tries).toBe(5);
  });

  it('stops when every rate is kept', () => {
    const { rate, tries } = search(Infinity, 10);
    expect(rate).toBeLessThan(10 * 1024);
    expect(tries).toBe(5);
  });

  it('stops after a limit of tries', () => {
    const { tries, rate } = findRate({
      startRate: 1,
      tolerance: 1e-9,
      mostTries: 5,
      tryRate: (tried) => (tried < 10 ? true : undefined),
    });
    expect(tries).toBe(5);
    // Widened by 1.5, 1.5² and 1.5⁴ the target is missed at 1.5⁷; halfway back it is kept.
    expect(rate).toBeCloseTo(1.5 ** 5);
  });
});
