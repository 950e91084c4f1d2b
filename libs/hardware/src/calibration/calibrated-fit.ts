import { RandomStream } from '@baton/kernel';
import type { StepTimeProfile } from '../profiles/step-time-profile';
import { CalibratedDesign, linearPoints } from './calibrated-design';
import { type MeasuredStep, phaseOf } from './measured-step';

/** Numbers of straight pieces of `linear` that are tried. */
const SEGMENTS = [1, 2, 4, 8, 16, 23];
const FOLDS = 5;
/** A simpler line is taken unless more pieces lower the cross-validated error by this part. */
const WORTH_IT = 0.02;
/** Fewer mixed steps say too little about the factor on decode attention in them. */
const FEWEST_MIXED = 10;
const MIXED_FACTORS = Array.from({ length: 61 }, (_, i) => 1 + i / 20);

export type FittedLaw = Pick<
  StepTimeProfile,
  'linear' | 'decodeAttentionMs' | 'prefillAttentionMs' | 'mixedDecodeFactor'
>;

/**
 * Fits the calibrated model to measured steps: non-negative least squares of the relative error,
 * so that a short step counts as much as a long one and nothing gets cheaper with more work. How
 * many pieces `linear` has is decided by five-fold cross-validation, shuffled by the seed; the
 * factor on decode attention in mixed steps by trying 1 to 4, when ten of them were measured.
 */
export function fitCalibrated(steps: readonly MeasuredStep[], seed: number): FittedLaw {
  const folds = foldsOf(steps, seed);
  const tried = SEGMENTS.map((segments) => linearPoints(steps, segments))
    .filter((points, i, all) => points.length > (all[i - 1]?.length ?? 0))
    .map((points) => ({ design: new CalibratedDesign(points), points }))
    .map(({ design, points }) => ({ design, points, error: crossValidated(design, folds) }));
  const least = Math.min(...tried.map(({ error }) => error));
  const { design } = tried.find(({ error }) => error <= least * (1 + WORTH_IT) + Number.EPSILON)!;
  return fitWith(design, steps);
}

function fitWith(design: CalibratedDesign, steps: readonly MeasuredStep[]): FittedLaw {
  const isMixed = (step: MeasuredStep) => phaseOf(step) === 'mixed';
  const mixed = design.systemOf(steps.filter(isMixed));
  const pure = design.systemOf(steps.filter((step) => !isMixed(step)));
  if (mixed.rows < FEWEST_MIXED) {
    return design.profileOf(pure.combined(mixed).solveNonNegative());
  }
  const tried = MIXED_FACTORS.map((factor) => {
    const system = pure.combined(mixed.scaled(design.decodeColumns, factor));
    const x = system.solveNonNegative();
    return { factor, x, error: system.squaredError(x) };
  });
  const best = tried.reduce((a, b) => (b.error < a.error ? b : a));
  return { ...design.profileOf(best.x), mixedDecodeFactor: best.factor };
}

/** Mean squared relative error over the folds, each predicted from the others. */
function crossValidated(design: CalibratedDesign, folds: readonly MeasuredStep[][]): number {
  const systems = folds.map((fold) => design.systemOf(fold));
  const all = systems.reduce((sum, system) => sum.combined(system));
  const errors = systems.map((system) =>
    system.squaredError(all.combined(system, -1).solveNonNegative()),
  );
  return errors.reduce((sum, error) => sum + error, 0) / all.rows;
}

function foldsOf(steps: readonly MeasuredStep[], seed: number): MeasuredStep[][] {
  const folds: MeasuredStep[][] = Array.from({ length: FOLDS }, () => []);
  shuffled(steps, seed, 'folds').forEach((step, i) => folds[i % FOLDS]!.push(step));
  return folds.filter((fold) => fold.length > 0);
}

/** The same order for the same seed and purpose. */
export function shuffled<T>(values: readonly T[], seed: number, purpose: string): T[] {
  const random = RandomStream.root(seed).stream('calibrate').stream(purpose);
  const result = [...values];
  for (let i = result.length - 1; i > 0; i--) {
    const other = random.integer(i + 1);
    [result[i], result[other]] = [result[other]!, result[i]!];
  }
  return result;
}
