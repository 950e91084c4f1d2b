import { assert } from '../assert';

/** Added to the unit diagonal, so that linearly dependent columns have a solution. */
const RIDGE = 1e-10;
/** Share of the largest moment below which a gradient counts as 0. */
const TOLERANCE = 1e-12;

/**
 * Weighted least squares in normal form, so that memory does not grow with the rows. Rows are added
 * one by one. The sum of two systems has the rows of both.
 */
export class NormalEquations {
  readonly gram: Float64Array;
  readonly moment: Float64Array;
  /** Σ weight² · y². */
  square = 0;
  rows = 0;

  constructor(readonly size: number) {
    this.gram = new Float64Array(size * size);
    this.moment = new Float64Array(size);
  }

  add(row: ArrayLike<number>, y: number, weight: number): void {
    const { size, gram, moment } = this;
    const square = weight * weight;
    for (let i = 0; i < size; i++) {
      const scaled = square * row[i]!;
      if (scaled === 0) continue;
      moment[i]! += scaled * y;
      for (let j = 0; j < size; j++) gram[i * size + j]! += scaled * row[j]!;
    }
    this.square += square * y * y;
    this.rows++;
  }

  /**
   * The system with the rows of both; with `sign` -1, with the rows of this one without those of
   * the other.
   */
  combined(other: NormalEquations, sign: 1 | -1 = 1): NormalEquations {
    assert(other.size === this.size, 'systems of different sizes');
    const sum = new NormalEquations(this.size);
    sum.gram.set(this.gram.map((value, i) => value + sign * other.gram[i]!));
    sum.moment.set(this.moment.map((value, i) => value + sign * other.moment[i]!));
    sum.square = this.square + sign * other.square;
    sum.rows = this.rows + sign * other.rows;
    return sum;
  }

  /** A copy of the equations with some columns multiplied by a factor. */
  scaled(columns: readonly number[], factor: number): NormalEquations {
    const { size } = this;
    const factors = new Float64Array(size).fill(1);
    for (const column of columns) factors[column] = factor;
    const result = new NormalEquations(size);
    result.gram.set(
      this.gram.map((value, at) => value * factors[Math.floor(at / size)]! * factors[at % size]!),
    );
    result.moment.set(this.moment.map((value, i) => value * factors[i]!));
    result.square = this.square;
    result.rows = this.rows;
    return result;
  }

  /** Σ weight² · (y − row · x)², at least 0. */
  squaredError(x: ArrayLike<number>): number {
    const { size, gram, moment } = this;
    let error = this.square;
    for (let i = 0; i < size; i++) {
      error -= 2 * x[i]! * moment[i]!;
      for (let j = 0; j < size; j++) error += x[i]! * x[j]! * gram[i * size + j]!;
    }
    return Math.max(0, error);
  }

  /** The coefficients with the least error. */
  solve(): Float64Array {
    const unit = this.toUnitColumns();
    const all = Array.from({ length: this.size }, (_, i) => i).filter((i) => unit.scales[i]! > 0);
    return unscaled(solveFor(unit, all), unit.scales);
  }

  /**
   * The non-negative coefficients with the least error, by the active-set method of Lawson and
   * Hanson on the normal equations (Bro and de Jong 1997).
   */
  solveNonNegative(): Float64Array {
    const unit = this.toUnitColumns();
    let x: Float64Array = new Float64Array(this.size);
    const active = new Set<number>();
    for (let round = 0; round < 10 * this.size; round++) {
      const entering = steepest(unit, x, active);
      if (entering === undefined) break;
      active.add(entering);
      x = descend(unit, x, active);
    }
    return unscaled(x, unit.scales);
  }

  private toUnitColumns(): UnitSystem {
    const { size, gram, moment } = this;
    const scales = Float64Array.from({ length: size }, (_, i) => Math.sqrt(gram[i * size + i]!));
    const inverse = scales.map((scale) => (scale > 0 ? 1 / scale : 0));
    return {
      size,
      scales,
      gram: gram.map((value, at) => value * inverse[Math.floor(at / size)]! * inverse[at % size]!),
      moment: moment.map((value, i) => value * inverse[i]!),
    };
  }
}

/** Normal equations whose columns have length 1 or 0. */
interface UnitSystem {
  readonly size: number;
  readonly scales: Float64Array;
  readonly gram: Float64Array;
  readonly moment: Float64Array;
}

/**
 * The column outside the set along which the error falls fastest. Undefined when it falls along no
 * column.
 */
function steepest(unit: UnitSystem, x: Float64Array, active: Set<number>): number | undefined {
  const largest = unit.moment.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  let best: number | undefined;
  let bestSlope = TOLERANCE * largest;
  for (let i = 0; i < unit.size; i++) {
    if (active.has(i) || unit.scales[i] === 0) continue;
    let slope = unit.moment[i]!;
    for (const j of active) slope -= unit.gram[i * unit.size + j]! * x[j]!;
    if (slope <= bestSlope) continue;
    best = i;
    bestSlope = slope;
  }
  return best;
}

/**
 * Moves to the least error within the set. Columns whose coefficient would become negative leave
 * the set.
 */
function descend(unit: UnitSystem, from: Float64Array, active: Set<number>): Float64Array {
  let x = from;
  while (active.size > 0) {
    const target = solveFor(unit, [...active]);
    const first = firstToVanish(x, target, active);
    if (first === undefined) return target;
    const step = x[first]! === 0 ? 0 : x[first]! / (x[first]! - target[first]!);
    x = x.map((value, i) => Math.max(0, value + step * (target[i]! - value)));
    x[first] = 0;
    active.delete(first);
  }
  return x;
}

/** The coefficient that reaches 0 first, among those that are at most 0 at the target. */
function firstToVanish(
  x: Float64Array,
  target: Float64Array,
  active: Set<number>,
): number | undefined {
  let first: number | undefined;
  let least = Infinity;
  for (const i of active) {
    if (target[i]! > 0) continue;
    const step = x[i]! === 0 ? 0 : x[i]! / (x[i]! - target[i]!);
    if (step >= least) continue;
    first = i;
    least = step;
  }
  return first;
}

/** The least error over some columns, by Cholesky factorisation; other columns get 0. */
function solveFor(unit: UnitSystem, columns: readonly number[]): Float64Array {
  const n = columns.length;
  const factor = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = unit.gram[columns[i]! * unit.size + columns[j]!]! + (i === j ? RIDGE : 0);
      for (let k = 0; k < j; k++) sum -= factor[i * n + k]! * factor[j * n + k]!;
      factor[i * n + j] = i === j ? Math.sqrt(Math.max(sum, RIDGE)) : sum / factor[j * n + j]!;
    }
  }
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let sum = unit.moment[columns[i]!]!;
    for (let k = 0; k < i; k++) sum -= factor[i * n + k]! * y[k]!;
    y[i] = sum / factor[i * n + i]!;
  }
  const x = new Float64Array(unit.size);
  for (let i = n - 1; i >= 0; i--) {
    let sum = y[i]!;
    for (let k = i + 1; k < n; k++) sum -= factor[k * n + i]! * x[columns[k]!]!;
    x[columns[i]!] = sum / factor[i * n + i]!;
  }
  return x;
}

function unscaled(x: Float64Array, scales: Float64Array): Float64Array {
  return x.map((value, i) => (scales[i]! > 0 ? value / scales[i]! : 0));
}
