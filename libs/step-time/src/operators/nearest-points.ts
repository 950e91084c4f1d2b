import { type Curve, lowerBound } from './curve';

/** Curves of one outer coordinate, by the middle one, rising. */
export interface Slice {
  readonly keys: number[];
  /** Logarithms of the keys to base 2, so that distances are in octaves. */
  readonly logs: number[];
  readonly curves: Curve[];
}

export interface Near {
  /** Octaves. */
  readonly distance: number;
  /** Speed of light over measured time. */
  readonly utilisation: number;
}

/** The place whose neighbours are searched, to base 2. */
interface Place {
  readonly middle: number;
  readonly inner: number;
}

/** One curve and its distance from the place. */
interface Row {
  readonly curve: Curve;
  /** Octaves between the place and the curve. */
  readonly down: number;
  /** The speed of light at a point of the curve, µs. */
  readonly usAt: (i: number) => number;
}

/**
 * Finds the measured points nearest to a place. It searches from the place outwards, row by row and
 * along each row, and stops when all other points are too far.
 */
export class NearestPoints {
  /** In rising order. */
  readonly found: Near[] = [];
  /** Points at this distance or farther are not among the nearest so far. */
  reach = Infinity;

  constructor(
    private readonly count: number,
    private readonly place: Place,
    private readonly speedOfLightUs: (middle: number, inner: number, outer: number) => number,
  ) {}

  /** @param across octaves between the slice and the place */
  add(slice: Slice, outer: number, across: number): void {
    const above = lowerBound(slice.logs, this.place.middle);
    for (let row = above; row < slice.keys.length; row++) {
      if (!this.addRow(slice, row, { outer, across })) break;
    }
    for (let row = above - 1; row >= 0; row--) {
      if (!this.addRow(slice, row, { outer, across })) break;
    }
  }

  /** True when rows farther out may have points among the nearest. */
  private addRow(
    { keys, logs, curves }: Slice,
    row: number,
    { outer, across }: { readonly outer: number; readonly across: number },
  ): boolean {
    const down = length(across, logs[row]! - this.place.middle);
    if (down >= this.reach) return false;
    const curve = curves[row]!;
    const { xs, logs: positions } = curve;
    const beyond = this.place.inner - positions[xs.length - 1]!;
    // Its last point is its nearest: most rows of a place far out end here.
    if (beyond > 0 && length(down, beyond) >= this.reach) return true;
    const above = beyond > 0 ? xs.length : lowerBound(positions, this.place.inner);
    const usAt = (i: number): number => this.speedOfLightUs(keys[row]!, xs[i]!, outer);
    const walked: Row = { curve, down, usAt };
    for (let i = above; i < xs.length && this.addPoint(walked, i); i++);
    for (let i = above - 1; i >= 0 && this.addPoint(walked, i); i--);
    return true;
  }

  /** True when the point is among the nearest so far. */
  private addPoint({ curve, down, usAt }: Row, i: number): boolean {
    const { found } = this;
    const distance = length(down, curve.logs[i]! - this.place.inner);
    if (distance >= this.reach) return false;
    const near = { distance, utilisation: usAt(i) / curve.us[i]! };
    let at = found.length;
    while (at > 0 && found[at - 1]!.distance > distance) at--;
    found.splice(at, 0, near);
    if (found.length > this.count) found.pop();
    if (found.length === this.count) this.reach = found[this.count - 1]!.distance;
    return true;
  }
}

/** Length of the hypotenuse. `Math.hypot` takes many times as long. */
function length(a: number, b: number): number {
  return Math.sqrt(a * a + b * b);
}
