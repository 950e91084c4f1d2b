import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PiecewiseLinear } from './piecewise-linear';

describe('PiecewiseLinear', () => {
  it('passes through its points', () => {
    const points = fc.uniqueArray(fc.tuple(fc.nat(1000), fc.nat(1000)), {
      minLength: 1,
      selector: ([x]) => x,
    });
    fc.assert(
      fc.property(points, (unsorted) => {
        const sorted = unsorted.toSorted((a, b) => a[0] - b[0]);
        const line = new PiecewiseLinear(
          sorted.map(([x]) => x),
          sorted.map(([, y]) => y),
        );
        for (const [x, y] of sorted) expect(line.at(x)).toBeCloseTo(y, 6);
      }),
    );
  });

  it('is level before the first point and continues with the last slope', () => {
    const line = new PiecewiseLinear([2, 4, 6], [10, 20, 24]);
    expect([line.at(0), line.at(3), line.at(5), line.at(10)]).toEqual([10, 15, 22, 32]);
    expect(new PiecewiseLinear([5], [7]).at(100)).toBe(7);
  });
});
