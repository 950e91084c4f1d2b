import { NormalEquations } from '@baton/kernel';
import { type BatchAggregates, factorParts, type StepTimeModel } from '@baton/step-time';
import { huberWeights } from './huber-weights';
import type { MeasuredStep } from './measured-step';

/** A fitted number and its standard error. Null: the points do not determine it. */
export interface Estimate {
  readonly value: number;
  readonly standardError: number | null;
}

export interface Factors {
  readonly prefill: Estimate;
  readonly decode: Estimate;
  readonly constantMs: Estimate;
}

/** Rounds of fitting and weighing again. */
const ROUNDS = 5;

/** Steps between two reports of progress. */
const REPORT_EVERY = 1_000;

/**
 * The factors on a composed model that fit measured steps best, by least squares of the relative
 * error. A factor without points stays 1.
 *
 * @param base composed, without overhead
 */
export function fitFactors(
  steps: readonly MeasuredStep[],
  base: StepTimeModel,
  onProgress?: (done: number, whole: number) => void,
): Factors {
  const rows = steps.map((step, i) => {
    if (i % REPORT_EVERY === 0) onProgress?.(i, steps.length);
    return rowOf(step, base);
  });
  const columns = [0, 1, 2].filter((column) => rows.some((row) => row.parts[column]! > 0));
  let weights = rows.map(() => 1);
  let found = solve(rows, columns, weights);
  for (let round = 1; round < ROUNDS; round++) {
    weights = weighted(rows, found.x);
    found = solve(rows, columns, weights);
  }
  const estimate = (column: number): Estimate => {
    if (!columns.includes(column)) return { value: 1, standardError: null };
    return { value: found.x[column]!, standardError: found.errors[column]! };
  };
  return { prefill: estimate(0), decode: estimate(1), constantMs: estimate(2) };
}

interface Row {
  /** Composed ms of the parts without and with decode, and 1. */
  readonly parts: readonly [number, number, number];
  readonly ms: number;
}

function rowOf(step: MeasuredStep, base: StepTimeModel): Row {
  const batch: BatchAggregates = { ...step, kvUsage: 0 };
  const [restUs, decodeUs] = factorParts(base, batch);
  return { parts: [restUs / 1_000, decodeUs / 1_000, 1], ms: step.ms };
}

interface Solution {
  /** Factor of each column; 1 without points. */
  readonly x: readonly number[];
  readonly errors: readonly number[];
}

function solve(
  rows: readonly Row[],
  columns: readonly number[],
  weights: readonly number[],
): Solution {
  const system = new NormalEquations(columns.length);
  rows.forEach(({ parts, ms }, i) => {
    const own = columns.map((column) => parts[column]!);
    system.add(own, ms, Math.sqrt(weights[i]!) / ms);
  });
  const fitted = system.solveNonNegative();
  const x = [1, 1, 0];
  const errors = [0, 0, 0];
  const free = Math.max(1, rows.length - columns.length);
  const variance = Math.max(0, system.squaredError(fitted)) / free;
  columns.forEach((column, i) => {
    x[column] = fitted[i]!;
    errors[column] = Math.sqrt(variance * Math.max(0, inverseAt(system, i)));
  });
  return { x, errors };
}

/** An entry on the diagonal of the inverse of the system's matrix. */
function inverseAt(system: NormalEquations, at: number): number {
  const unit = new NormalEquations(system.size);
  unit.gram.set(system.gram);
  unit.moment[at] = 1;
  return unit.solve()[at]!;
}

function weighted(rows: readonly Row[], x: readonly number[]): number[] {
  const errors = rows.map(({ parts, ms }) =>
    Math.abs(parts.reduce((sum, part, i) => sum + part * x[i]!, 0) / ms - 1),
  );
  return huberWeights(errors);
}
