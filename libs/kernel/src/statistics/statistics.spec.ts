import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mean } from './mean';
import { median, quantile } from './quantile';

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 });

describe('mean, median and quantile', () => {
  it('are NaN without values', () => {
    expect([mean([]), median([]), quantile([], 0.5)]).toEqual([NaN, NaN, NaN]);
  });

  it('are those of numpy', () => {
    expect(mean([1, 2, 6])).toBe(3);
    expect([median([9, 1, 2]), median([4, 1, 3, 2])]).toEqual([2, 2.5]);
    expect(quantile([0, 10, 20, 30, 40], 0.9)).toBeCloseTo(36, 9);
  });

  it('lie between the least and the greatest value, with as many values above as below', () => {
    fc.assert(
      fc.property(values, (given) => {
        const [least, greatest] = [Math.min(...given), Math.max(...given)];
        const slack = 1e-9 * (1 + Math.abs(least) + Math.abs(greatest));
        for (const each of [mean(given), median(given)]) {
          expect(each).toBeGreaterThanOrEqual(least - slack);
          expect(each).toBeLessThanOrEqual(greatest + slack);
        }
        const middle = median(given);
        const half = given.length / 2;
        expect(given.filter((value) => value < middle).length).toBeLessThanOrEqual(half);
        expect(given.filter((value) => value > middle).length).toBeLessThanOrEqual(half);
      }),
    );
  });
});
