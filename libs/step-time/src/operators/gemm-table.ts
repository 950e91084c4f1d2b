import { median } from '@baton/kernel';
import { Curve } from './curve';
import { FORMAT_BYTES, type OperatorFormat, peakOf } from './number-format';
import { forEachNumberRowIn, forEachRun, readNumbers, type TextRange } from './number-rows';
import { speedOfLightUs, type SystemFacts } from './system-facts';

/** The measurements of one (n, k): the place of its rows, and on first use their curve. */
interface Shape {
  readonly n: number;
  readonly k: number;
  readonly logN: number;
  readonly logK: number;
  readonly range: TextRange;
  curve?: Curve;
  /** Smallest and largest m. */
  ends?: readonly [first: number, last: number];
}

interface Neighbour {
  readonly shape: Shape;
  readonly distance: number;
}

/** Width, depth, rows of x, and the time. */
const COLUMNS = 4;
/** Number of leading columns that describe a shape. */
const SHAPE_COLUMNS = 2;
/** Octaves of (n, k) within which one shape predicts another. */
const REACH_OCTAVES = 2;
const NEIGHBOURS = 4;
/** Points at the end of a curve whose median utilisation continues beyond it. */
const TAIL = 3;

/**
 * Measured times of `y[m,n] = x[m,k] W[k,n]`. For a measured (n, k) the time is a straight line in
 * m, beyond which its last utilisation continues. Other shapes use the utilisation of the nearest
 * ones. Rules: data/operators/COMPOSITION.md. It keeps the text and reads the rows of a shape on
 * first use: a model needs a few of hundreds.
 */
export class GemmTable {
  private readonly shapes = new Map<string, Shape>();
  private readonly ranked = new Map<string, readonly Neighbour[]>();
  /** Whether each m was measured. */
  private readonly measured = new Map<number, boolean>();

  constructor(
    private readonly csv: string,
    private readonly system: SystemFacts,
    private readonly format: OperatorFormat,
  ) {
    forEachRun(csv, SHAPE_COLUMNS, (key, range) => {
      const [n, k] = key.map(Number);
      const logs = { logN: Math.log2(n!), logK: Math.log2(k!) };
      this.shapes.set(key.join(','), { n: n!, k: k!, ...logs, range });
    });
  }

  /** Time in µs; undefined when no measured shape is near. */
  timeUs(m: number, n: number, k: number): number | undefined {
    const known = this.shapes.get(`${n},${k}`);
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

  /** Every m at which a shape in use was measured, ascending. */
  get positions(): number[] {
    const all = new Set<number>();
    for (const { curve } of this.shapes.values()) for (const x of curve?.xs ?? []) all.add(x);
    return [...all].sort((a, b) => a - b);
  }

  /** Largest m at which this shape, or one that predicts it, was measured; 0: none is near. */
  lastMeasured(n: number, k: number): number {
    const known = this.shapes.get(`${n},${k}`);
    const used = known === undefined ? this.predicting(n, k) : [known];
    return used.reduce((most, shape) => Math.max(most, this.endsOf(shape)[1]), 0);
  }

  speedOfLightUs(m: number, n: number, k: number): number {
    const bytes = FORMAT_BYTES[this.format] * (m * k + m * n + n * k);
    const peak = peakOf(this.system, this.format);
    return speedOfLightUs(this.system, { flops: 2 * m * n * k, peak, bytes });
  }

  private curveOf(shape: Shape): Curve {
    return (shape.curve ??= this.readCurve(shape.range));
  }

  private readCurve(range: TextRange): Curve {
    const curve = new Curve();
    forEachNumberRowIn(this.csv, { columns: COLUMNS, range }, (row) => {
      const [n, k, m, us] = row;
      curve.add(m!, Math.max(us!, this.speedOfLightUs(m!, n!, k!)));
    });
    return curve;
  }

  /** True when m is within the measurements of some shape. */
  private isMeasured(m: number): boolean {
    let isAny = this.measured.get(m);
    if (isAny === undefined) {
      isAny = [...this.shapes.values()].some((shape) => this.covers(shape, m));
      this.measured.set(m, isAny);
    }
    return isAny;
  }

  /**
   * Reads only the first and the last row, because a search can try hundreds of shapes without a
   * match.
   */
  private covers(shape: Shape, m: number): boolean {
    const [first, last] = this.endsOf(shape);
    return m >= first && m <= last;
  }

  private endsOf(shape: Shape): readonly [first: number, last: number] {
    return (shape.ends ??= this.readEnds(shape.range));
  }

  private readEnds([start, end]: TextRange): readonly [number, number] {
    const row = new Float64Array(COLUMNS);
    readNumbers(this.csv, start, row);
    const first = row[COLUMNS - 2]!;
    readNumbers(this.csv, this.csv.lastIndexOf('\n', end - 2) + 1, row);
    return [first, row[COLUMNS - 2]!];
  }

  private onCurve(shape: Shape, m: number): number {
    const { n, k } = shape;
    const curve = this.curveOf(shape);
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
    const isMeasured = this.isMeasured(m);
    const isUsable = ({ shape }: Neighbour) => !isMeasured || this.covers(shape, m);
    const near = firstOf(ranked, (one) => one.distance <= REACH_OCTAVES && isUsable(one));
    if (near.length > 0) return near;
    return firstOf(ranked, (one) => isDeepAlike(one, k) && isUsable(one));
  }

  /** Every shape that may predict (n, k) at some m. */
  private predicting(n: number, k: number): Shape[] {
    const ranked = this.rankedFor(n, k);
    const near = ranked.filter(({ distance }) => distance <= REACH_OCTAVES);
    const used = near.length > 0 ? near : ranked.filter((one) => isDeepAlike(one, k));
    return used.map(({ shape }) => shape);
  }

  /** All shapes by their distance from (n, k), the nearest first. */
  private rankedFor(n: number, k: number): readonly Neighbour[] {
    const key = `${n},${k}`;
    let ranked = this.ranked.get(key);
    if (ranked === undefined) {
      const [logN, logK] = [Math.log2(n), Math.log2(k)];
      ranked = [...this.shapes.values()]
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

function isDeepAlike({ shape }: Neighbour, k: number): boolean {
  return Math.abs(shape.logK - Math.log2(k)) <= REACH_OCTAVES;
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
