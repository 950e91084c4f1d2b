import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NormalEquations } from './normal-equations';

const COLUMNS = 4;
const number = fc.double({ min: -10, max: 10, noNaN: true });
const row = fc.array(number, { minLength: COLUMNS, maxLength: COLUMNS });
const rows = fc.array(fc.tuple(row, number), { minLength: 6, maxLength: 40 });

function systemOf(points: readonly (readonly [readonly number[], number])[]): NormalEquations {
  const system = new NormalEquations(COLUMNS);
  for (const [x, y] of points) system.add(x, y, 1);
  return system;
}

/** Half the gradient of the squared error, along each coefficient. */
function gradient({ size, gram, moment }: NormalEquations, x: Float64Array): number[] {
  return Array.from(moment, (value, i) => {
    const product = Array.from(x).reduce((sum, each, j) => sum + gram[i * size + j]! * each, 0);
    return product - value;
  });
}

describe('NormalEquations', () => {
  it('finds coefficients that meet the conditions of Karush, Kuhn and Tucker', () => {
    fc.assert(
      fc.property(rows, (points) => {
        const system = systemOf(points);
        const x = system.solveNonNegative();
        const scale = 1e-5 * (1 + system.square);
        gradient(system, x).forEach((slope, i) => {
          expect(x[i]!).toBeGreaterThanOrEqual(0);
          expect(slope).toBeGreaterThan(-scale);
          if (x[i]! > 1e-6) expect(Math.abs(slope)).toBeLessThan(scale);
        });
      }),
    );
  });

  it('finds the coefficients of the rows, of either sign', () => {
    const made = fc.array(number, { minLength: COLUMNS, maxLength: COLUMNS });
    fc.assert(
      fc.property(fc.array(row, { minLength: 12, maxLength: 30 }), made, (xs, truth) => {
        const points = xs.map(
          (x) => [x, x.reduce((sum, each, i) => sum + each * truth[i]!, 0)] as const,
        );
        const system = systemOf(points);
        const error = system.squaredError(system.solve());
        expect(error).toBeLessThan(1e-6 * (1 + system.square));
      }),
    );
  });

  it('gives equal results for the sum of two systems and for all rows in one', () => {
    fc.assert(
      fc.property(rows, rows, (a, b) => {
        const sum = systemOf(a).combined(systemOf(b));
        const all = systemOf([...a, ...b]);
        expect(sum.rows).toBe(all.rows);
        expect(sum.square).toBeCloseTo(all.square, 6);
        const without = sum.combined(systemOf(b), -1);
        Array.from(systemOf(a).gram, (value, i) => expect(without.gram[i]).toBeCloseTo(value, 6));
      }),
    );
  });

  it('scales columns like scaled values', () => {
    const points = [
      [[1, 2, 3, 4], 5],
      [[2, 1, 0, 3], 4],
    ] as const;
    const scaled = systemOf(points).scaled([1, 3], 2);
    const made = systemOf(points.map(([[a, b, c, d], y]) => [[a, 2 * b, c, 2 * d], y] as const));
    expect([...scaled.gram]).toEqual([...made.gram]);
    expect([...scaled.moment]).toEqual([...made.moment]);
  });

  it('gives 0 to a column of zeros, and accepts two equal columns', () => {
    const system = systemOf([
      [[1, 1, 0, 2], 6],
      [[2, 2, 0, 1], 6],
      [[3, 3, 0, 5], 16],
    ]);
    const x = system.solveNonNegative();
    expect(x[2]).toBe(0);
    expect(x[0]! + x[1]!).toBeCloseTo(2, 4);
    expect(x[3]).toBeCloseTo(2, 4);
  });
});
