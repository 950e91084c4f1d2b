import { RandomStream } from '@baton/kernel';
import { CalibratedStepTime, type StepTimeProfile } from '@baton/step-time';
import { CalibratedDesign, linearPoints, type WeightedStep } from './calibrated-design';
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
 * How many pieces `linear` has: as cross-validation decides, or as many as there can be, for points
 * that are free of noise.
 */
export type Pieces = 'cross-validated' | 'all';

/** Rounds of fitting and weighing anew. */
const ROUNDS = 6;
/** Errors up to so many standard deviations count in full (Huber 1964). */
const HUBER = 1.345;
/** From the median of |error| to a standard deviation, for normal errors. */
const DEVIATION_PER_MEDIAN = 1.4826;
/** No measurement is taken to be more exact than this part of itself. */
const SMALLEST_DEVIATION = 1e-3;

/**
 * Fits the calibrated model to measured steps: non-negative least squares of the relative error,
 * so that a short step counts as much as a long one and nothing gets cheaper with more work. Points
 * far from what the others show count less, by Huber's weights. How many pieces `linear` has is
 * decided by five-fold cross-validation, shuffled by the seed; the factor on decode attention in
 * mixed steps by trying 1 to 4, when ten of them were measured.
 */
export function fitCalibrated(
  steps: readonly MeasuredStep[],
  seed: number,
  pieces: Pieces = 'cross-validated',
): FittedLaw {
  const numbers = pieces === 'all' ? SEGMENTS.slice(-1) : SEGMENTS;
  let points: WeightedStep[] = shuffled(steps, seed, 'folds').map((step) => ({ step, weight: 1 }));
  let law = fitOnce(points, numbers);
  for (let round = 1; round < ROUNDS; round++) {
    points = weighted(points, law);
    law = fitOnce(points, numbers);
  }
  return law;
}

function fitOnce(points: readonly WeightedStep[], numbers: readonly number[]): FittedLaw {
  const steps = points.map(({ step }) => step);
  const folds = foldsOf(points);
  const tried = numbers
    .map((segments) => linearPoints(steps, segments))
    .filter((tokens, i, all) => tokens.length > (all[i - 1]?.length ?? 0))
    .map((tokens) => new CalibratedDesign(tokens))
    .map((design) => ({ design, error: crossValidated(design, folds) }));
  const least = Math.min(...tried.map(({ error }) => error));
  const { design } = tried.find(({ error }) => error <= least * (1 + WORTH_IT) + Number.EPSILON)!;
  return fitWith(design, points);
}

function fitWith(design: CalibratedDesign, points: readonly WeightedStep[]): FittedLaw {
  const isMixed = ({ step }: WeightedStep) => phaseOf(step) === 'mixed';
  const mixed = design.systemOf(points.filter(isMixed));
  const pure = design.systemOf(points.filter((point) => !isMixed(point)));
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

/** A pause of a client or a network is no property of a step. */
function weighted(points: readonly WeightedStep[], law: FittedLaw): WeightedStep[] {
  const model = new CalibratedStepTime({ ...law, overheadMs: 0, valid: {} });
  const errors = points.map(({ step }) =>
    Math.abs(model.stepUs({ ...step, kvUsage: 0 }) / 1000 / step.ms - 1),
  );
  const median = [...errors].sort((a, b) => a - b)[Math.floor(errors.length / 2)]!;
  const full = HUBER * Math.max(SMALLEST_DEVIATION, DEVIATION_PER_MEDIAN * median);
  return points.map(({ step }, i) => ({
    step,
    weight: errors[i]! <= full ? 1 : Math.sqrt(full / errors[i]!),
  }));
}

/** Mean squared relative error over the folds, each predicted from the others. */
function crossValidated(design: CalibratedDesign, folds: readonly WeightedStep[][]): number {
  const systems = folds.map((fold) => design.systemOf(fold));
  const all = systems.reduce((sum, system) => sum.combined(system));
  const errors = systems.map((system) =>
    system.squaredError(all.combined(system, -1).solveNonNegative()),
  );
  return errors.reduce((sum, error) => sum + error, 0) / all.rows;
}

function foldsOf(points: readonly WeightedStep[]): WeightedStep[][] {
  const folds: WeightedStep[][] = Array.from({ length: FOLDS }, () => []);
  points.forEach((point, i) => folds[i % FOLDS]!.push(point));
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
