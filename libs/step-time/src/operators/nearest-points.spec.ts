import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Curve } from './curve';
import { NearestPoints, type Slice } from './nearest-points';

const axis = fc.uniqueArray(fc.integer({ min: 1, max: 4_096 }), { minLength: 1, maxLength: 6 });
const grid = fc.array(fc.tuple(fc.nat(8), fc.array(fc.tuple(axis, fc.nat(4_096)))), {
  minLength: 1,
  maxLength: 4,
});

function sliceOf(rows: readonly (readonly [xs: number[], key: number])[]): Slice {
  const slice: Slice = { keys: [], logs: [], curves: [] };
  for (const [xs, key] of [...rows].sort(([, a], [, b]) => a - b)) {
    const curve = new Curve();
    for (const x of xs.sort((a, b) => a - b)) curve.add(x, 1);
    slice.keys.push(key + 1);
    slice.logs.push(Math.log2(key + 1));
    slice.curves.push(curve);
  }
  return slice;
}

describe('NearestPoints', () => {
  it('equal those of a full search', () => {
    const size = fc.integer({ min: 1, max: 65_536 });
    const place = fc.tuple(size, size);
    fc.assert(
      fc.property(grid, place, fc.integer({ min: 1, max: 6 }), (slices, [row, x], count) => {
        const at = { middle: Math.log2(row), inner: Math.log2(x) };
        const nearest = new NearestPoints(count, at, () => 1);
        const all: number[] = [];
        for (const [across, rows] of slices) {
          const slice = sliceOf(rows);
          nearest.add(slice, 1, across);
          slice.curves.forEach(({ logs }, i) => {
            const down = across ** 2 + (slice.logs[i]! - at.middle) ** 2;
            for (const log of logs) all.push(Math.sqrt(down + (log - at.inner) ** 2));
          });
        }
        const wanted = all.sort((a, b) => a - b).slice(0, count);
        expect(nearest.found).toHaveLength(wanted.length);
        nearest.found.forEach(({ distance }, i) => expect(distance).toBeCloseTo(wanted[i]!, 9));
      }),
    );
  });
});
