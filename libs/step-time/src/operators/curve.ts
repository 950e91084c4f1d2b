/** Measured times over one axis, with rising positions. */
export class Curve {
  readonly xs: number[] = [];
  readonly us: number[] = [];
  private positions: Float64Array | undefined;

  /** Points are added in rising order of x. */
  add(x: number, us: number): void {
    this.xs.push(x);
    this.us.push(us);
  }

  /** Logarithms of the positions, to base 2. */
  get logs(): Float64Array {
    const { xs } = this;
    if (this.positions?.length !== xs.length) this.positions = Float64Array.from(xs, Math.log2);
    return this.positions;
  }

  get firstX(): number {
    return this.xs[0]!;
  }

  get lastX(): number {
    return this.xs[this.xs.length - 1]!;
  }

  covers(x: number): boolean {
    return x >= this.firstX && x <= this.lastX;
  }

  /** A straight line between the neighbours of x; undefined outside of the measured range. */
  at(x: number): number | undefined {
    if (!this.covers(x)) return undefined;
    const above = lowerBound(this.xs, x);
    const high = this.us[above]!;
    if (this.xs[above] === x) return high;
    const [low, lowX] = [this.us[above - 1]!, this.xs[above - 1]!];
    return low + ((high - low) * (x - lowX)) / (this.xs[above]! - lowX);
  }
}

/** Index of the first value that is not below x; the length when all are. */
export function lowerBound(rising: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! < x) low = middle + 1;
    else high = middle;
  }
  return low;
}
