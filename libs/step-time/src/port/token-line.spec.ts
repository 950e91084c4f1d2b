import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PiecewiseLinear } from './piecewise-linear';
import { TokenLine } from './token-line';

describe('TokenLine', () => {
  it('has the same bits as its line, inside its table and beyond', () => {
    const points = fc.uniqueArray(fc.integer({ min: 1, max: 40_000 }), { minLength: 1 });
    fc.assert(
      fc.property(
        points,
        fc.nat(60_000),
        fc.infiniteStream(fc.double({ min: 0, max: 1e6, noNaN: true })),
        (xs, x, values) => {
          const tokens = [...xs].sort((a, b) => a - b);
          const ys = tokens.map(() => values.next().value as number);
          expect(new TokenLine(tokens, ys).at(x)).toBe(new PiecewiseLinear(tokens, ys).at(x));
        },
      ),
    );
  });

  it('pads a batch to the next captured size, but not above the largest', () => {
    const line = new TokenLine([0, 100], [0, 100], [1, 2, 4, 8]);
    expect([0, 1, 2, 3, 4, 5, 8, 9, 50].map((tokens) => line.at(tokens))).toEqual([
      0, 1, 2, 4, 4, 8, 8, 9, 50,
    ]);
  });
});
