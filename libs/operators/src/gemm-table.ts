import { Curve } from './curve';
import { FORMAT_BYTES, type OperatorFormat, peakOf } from './number-format';
import { forEachNumberRow } from './number-rows';
import { speedOfLightUs, type SystemFacts } from './system-facts';

interface Shape {
  readonly n: number;
  readonly k: number;
  readonly logN: number;
  readonly logK: number;
  readonly curve: Curve;
}

interface Neighbour {
  readonly shape: Shape;
  readonly distance: number;
}

/** Width, depth, rows of x, and the time. */
const COLUMNS = 4;
/** Octaves of (n, k) within which one shape says something about another. */
const REACH_OCTAVES = 2;
const NEIGHBOURS = 4;
/** Points at the end of a curve whose median utilisation goes on beyond it. */
const TAIL = 3;

/**
 * Measured times of `y[m,n] = x[m,k] W[k,n]`. A known (n, k) is a straight line in m, beyond it its
 * last utilisation goes on; another takes the utilisation of the nearest shapes. Rules:
 * data/operators/COMPOSITION.md.
 */
export class GemmTable {
  private readonly shapes: Shape[] = [];
  private readonly byKey = new Map<string, Shape>();
  private readonly ranked = new Map<string, readonly Neighbour[]>();
  private rising: number[] | undefined;

  constructor(
    csv: string,
    private readonly system: SystemFacts,
    private readonly format: OperatorFormat,
  ) {
    forEachNumberRow(csv, COLUMNS, (row) => this.add(row));
  }

  /** Time in µs; undefined when no measured shape is near. */
  us(m: number, n: number, k: number): number | undefined {
    const known = this.byKey.get(`${n},${k}`);
    if (known !== undefined) return this.onCurve(known, m);
    const near = this.neighbours(m, n, k);
    if (near.length === 0) return undefined;
    let weights = 0;
    let utilisation = 0;
    for (const { shape, distance } of near) {
      const weight = 1 / (distance ** 2 + 1e-12);
      const own = this.speedOfLightUs(m, shape.n, shape.k) / this.onCurve(shape, m);
      weights += weight;
      utilisation += weight * own;
    }
    return (this.speedOfLightUs(m, n, k) * weights) / utilisation;
  }

  /** Every m at which some shape was measured, rising. */
  get positions(): number[] {
    if (this.rising === undefined) {
      const all = new Set<number>();
      for (const { curve } of this.shapes) for (const x of curve.xs) all.add(x);
      this.rising = [...all].sort((a, b) => a - b);
    }
    return this.rising;
  }

  speedOfLightUs(m: number, n: number, k: number): number {
    const bytes = FORMAT_BYTES[this.format] * (m * k + m * n + n * k);
    const peak = peakOf(this.system, this.format);
    return speedOfLightUs(this.system, { flops: 2 * m * n * k, peak, bytes });
  }

  private add(row: Readonly<Float64Array>): void {
    const [n, k, m, us] = row;
    const { curve } = this.shapeOf(n!, k!);
    curve.add(m!, Math.max(us!, this.speedOfLightUs(m!, n!, k!)));
  }

  /** Rows of a shape follow each other. */
  private shapeOf(n: number, k: number): Shape {
    const last = this.shapes.at(-1);
    if (last?.n === n && last.k === k) return last;
    const key = `${n},${k}`;
    let shape = this.byKey.get(key);
    if (shape === undefined) {
      shape = { n, k, curve: new Curve(), logN: Math.log2(n), logK: Math.log2(k) };
      this.byKey.set(key, shape);
      this.shapes.push(shape);
    }
    return shape;
  }

  private onCurve({ curve, n, k }: Shape, m: number): number {
    const within = curve.at(m);
    if (within !== undefined) return within;
    const last = curve.xs.length;
    const [from, to] =
      m < curve.firstX ? [0, Math.min(TAIL, last)] : [Math.max(0, last - TAIL), last];
    const utilisations: number[] = [];
    for (let i = from; i < to; i++) {
      utilisations.push(this.speedOfLightUs(curve.xs[i]!, n, k) / curve.us[i]!);
    }
    return this.speedOfLightUs(m, n, k) / median(utilisations);
  }

  private neighbours(m: number, n: number, k: number): Neighbour[] {
    const ranked = this.rankedFor(n, k);
    const isAnyCovering = ranked.some(({ shape }) => shape.curve.covers(m));
    const isUsable = ({ shape }: Neighbour) => !isAnyCovering || shape.curve.covers(m);
    const near = firstOf(ranked, (one) => one.distance <= REACH_OCTAVES && isUsable(one));
    if (near.length > 0) return near;
    const logK = Math.log2(k);
    const isDeepAlike = ({ shape }: Neighbour) => Math.abs(shape.logK - logK) <= REACH_OCTAVES;
    return firstOf(ranked, (one) => isDeepAlike(one) && isUsable(one));
  }

  /** All shapes by their distance from (n, k), the nearest first. */
  private rankedFor(n: number, k: number): readonly Neighbour[] {
    const key = `${n},${k}`;
    let ranked = this.ranked.get(key);
    if (ranked === undefined) {
      const [logN, logK] = [Math.log2(n), Math.log2(k)];
      ranked = this.shapes
        .map((shape) => ({
          shape,
          distance: Math.hypot(shape.logN - logN, shape.logK - logK),
        }))
        .sort((a, b) => a.distance - b.distance);
      this.ranked.set(key, ranked);
    }
    return ranked;
  }
}

function firstOf(
  ranked: readonly Neighbour[],
  isWanted: (neighbour: Neighbour) => boolean,
): Neighbour[] {
  const found: Neighbour[] = [];
  for (const neighbour of ranked) {
    if (found.length === NEIGHBOURS) break;
    if (isWanted(neighbour)) found.push(neighbour);
  }
  return found;
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
