import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paretoFront } from './pareto';

const point = fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9));

describe('the Pareto front', () => {
  it('keeps points that no other point beats', () => {
    const points = [
      [1, 5],
      [2, 2],
      [5, 1],
      [3, 3],
      [2, 2],
    ];
    expect(paretoFront(points, (p) => p)).toEqual([
      [1, 5],
      [2, 2],
      [5, 1],
      [2, 2],
    ]);
  });

  it('has no beaten point, and a better point for each of the others', () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 30 }), (points) => {
        const front = paretoFront(points, (p) => p);
        const isBeaten = (p: number[]): boolean =>
          points.some((q) => q.every((c, i) => c <= p[i]!) && q.some((c, i) => c < p[i]!));
        expect(front.some(isBeaten)).toBe(false);
        expect(points.filter((p) => !front.includes(p)).every(isBeaten)).toBe(true);
      }),
    );
  });
});
