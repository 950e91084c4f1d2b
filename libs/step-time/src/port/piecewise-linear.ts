import { assert } from '@baton/kernel';

/**
 * A line through points with rising x: straight between them, continued beyond the last at the last
 * slope, level before the first. Each segment is kept as intercept and slope, so that evaluating a
 * segment twice gives the same bits.
 */
export class PiecewiseLinear {
  private readonly intercepts: Float64Array;
  private readonly slopes: Float64Array;

  /** @param xs rising, at least one */
  constructor(
    private readonly xs: ArrayLike<number>,
    ys: ArrayLike<number>,
  ) {
    assert(xs.length > 0 && xs.length === ys.length, 'a line needs points');
    // Segment i ends at point i; the first is level, the last has no end.
    this.intercepts = new Float64Array(xs.length + 1).fill(ys[0]!);
    this.slopes = new Float64Array(xs.length + 1);
    for (let i = 1; i < xs.length; i++) {
      const slope = (ys[i]! - ys[i - 1]!) / (xs[i]! - xs[i - 1]!);
      this.slopes[i] = slope;
      this.intercepts[i] = ys[i - 1]! - slope * xs[i - 1]!;
    }
    this.slopes[xs.length] = this.slopes[xs.length - 1]!;
    this.intercepts[xs.length] = this.intercepts[xs.length - 1]!;
  }

  at(x: number): number {
    const segment = this.segmentOf(x);
    return this.intercepts[segment]! + this.slopes[segment]! * x;
  }

  /** The segment that holds x; a point belongs to the segment that ends there. */
  segmentOf(x: number): number {
    const { xs } = this;
    let low = 0;
    let high = xs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle]! < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  interceptOf(segment: number): number {
    return this.intercepts[segment]!;
  }

  slopeOf(segment: number): number {
    return this.slopes[segment]!;
  }

  /** Largest x of the segment. */
  endOf(segment: number): number {
    return segment < this.xs.length ? this.xs[segment]! : Infinity;
  }

  get lastSlope(): number {
    return this.slopes[this.xs.length]!;
  }

  get firstX(): number {
    return this.xs[0]!;
  }

  get lastX(): number {
    return this.xs[this.xs.length - 1]!;
  }
}
