import { assert, mean } from '@baton/kernel';
import { PiecewiseLinear } from '../port/piecewise-linear';
import type { Range } from '../port/valid-range';

export interface GridPoint {
  readonly row: number;
  readonly x: number;
  readonly y: number;
}

/**
 * A surface over (row, x), bilinear between its points. Rows need not share their x: large batches,
 * for one, are measured at short contexts only, and their line is then continued. Beyond the
 * outermost rows the surface continues as between the last two; before the first it is level.
 * `locate` leaves its answer in fields, so that a lookup allocates nothing.
 */
export class RaggedGrid {
  /**
   * Result of the last `locate`: the surface along its row is `intercept + slope · x`, up to `end`.
   */
  intercept = 0;
  slope = 0;
  end = Infinity;
  private readonly rows: Float64Array;
  private readonly lines: readonly PiecewiseLinear[];

  constructor(points: readonly GridPoint[]) {
    assert(points.length > 0, 'a grid needs points');
    const sorted = [...points].sort((a, b) => a.row - b.row || a.x - b.x);
    const rows = [...new Set(sorted.map((point) => point.row))];
    this.rows = Float64Array.from(rows);
    this.lines = linesOf(rows, sorted);
  }

  at(row: number, x: number): number {
    this.locate(row, x);
    return this.intercept + this.slope * x;
  }

  locate(row: number, x: number): void {
    const upper = this.upperRow(row);
    const lower = Math.max(0, upper - 1);
    const a = this.lines[lower]!;
    const b = this.lines[upper]!;
    const weight = this.weightOf(row, lower, upper);
    const inA = a.segmentOf(x);
    const inB = b.segmentOf(x);
    this.intercept = (1 - weight) * a.interceptOf(inA) + weight * b.interceptOf(inB);
    this.slope = (1 - weight) * a.slopeOf(inA) + weight * b.slopeOf(inB);
    this.end = Math.min(a.endOf(inA), b.endOf(inB));
  }

  /** Lowest and highest measured row. */
  get rowRange(): Range {
    return [this.rows[0]!, this.rows[this.rows.length - 1]!];
  }

  /** Lowest and highest x measured near a row: those of the next measured one. */
  xRangeNear(row: number): Range {
    const line = this.lines[this.upperRow(row)]!;
    return [line.firstX, line.lastX];
  }

  private upperRow(row: number): number {
    const last = this.rows.length - 1;
    let upper = 0;
    while (upper < last && this.rows[upper]! < row) upper++;
    return upper;
  }

  private weightOf(row: number, lower: number, upper: number): number {
    if (lower === upper) return 0;
    return (row - this.rows[lower]!) / (this.rows[upper]! - this.rows[lower]!);
  }
}

function linesOf(rows: readonly number[], points: readonly GridPoint[]): PiecewiseLinear[] {
  const lines: PiecewiseLinear[] = [];
  rows.forEach((row, i) => {
    const own = points.filter((point) => point.row === row);
    const before = lines[i - 1];
    // Time grows with row · x: one context token of each of twice as many sequences costs twice as
    // much.
    const slope = before ? (before.lastSlope * row) / rows[i - 1]! : 0;
    lines.push(lineOf(own, slope));
  });
  return lines;
}

/** A row with a single point has no slope of its own and takes the given one. */
function lineOf(points: readonly GridPoint[], slope: number): PiecewiseLinear {
  const xs = [...new Set(points.map((point) => point.x))];
  const ys = xs.map((x) => meanOf(points.filter((point) => point.x === x)));
  if (xs.length > 1) return new PiecewiseLinear(xs, ys);
  return new PiecewiseLinear([xs[0]!, xs[0]! + 1], [ys[0]!, ys[0]! + slope]);
}

/** A point measured several times counts with its mean. */
function meanOf(points: readonly GridPoint[]): number {
  return mean(points.map((point) => point.y));
}
