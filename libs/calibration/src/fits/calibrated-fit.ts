import { RandomStream } from '@baton/kernel';
import { CalibratedStepTime, type StepTimeProfile } from '@baton/step-time';
import { CalibratedDesign, linearPoints, type WeightedStep } from './calibrated-design';
import { huberWeights } from './huber-weights';
import { type MeasuredStep, phaseOf } from './measured-step';

/** Numbers of segments of `linear` that are tried. */
const SEGMENTS = [1, 2, 4, 8, 16, 23];
const FOLDS = 5;
/** Relative reduction of the cross-validated error from which more segments are used. */
const WORTH_IT = 0.02;
/** Fewest mixed steps from which the factor on decode attention is fitted. */
const FEWEST_MIXED = 10;
const MIXED_FACTORS = Array.from({ length: 61 }, (_, i) => 1 + i / 20);

export type FittedLaw = Pick<
  StepTimeProfile,
  'linear' | 'decodeAttentionMs' | 'prefillAttentionMs' | 'mixedDecodeFactor'
>;

/**
 * The number of segments of `linear`: from cross-validation, or as many as possible, for points
 * without noise.
 */
export type Pieces = 'cross-validated' | 'all';

/** Rounds of fitting and weighing again. */
const ROUNDS = 6;

export interface CalibratedFitOptions {
  readonly seed: number;
  /** Default: cross-validated. */
  readonly pieces?: Pieces | undefined;
  readonly onProgress?: ((done: number, whole: number) => void) | undefined;
}

/**
 * Fits the calibrated model to measured steps by non-negative least squares of the relative error,
 * so that short and long steps count alike and more work never takes less time. Points far from the
 * others count less, by Huber's weights. Five-fold cross-validation, shuffled by the seed,
 * determines the number of segments of `linear`. The factor on decode attention in mixed steps is
 * the best of 1 to 4, if there are ten mixed steps.
 */
export function fitCalibrated(
  steps: readonly MeasuredStep[],
  { seed, pieces = 'cross-validated', onProgress }: CalibratedFitOptions,
): FittedLaw {
  const numbers = pieces === 'all' ? SEGMENTS.slice(-1) : SEGMENTS;
  let points: WeightedStep[] = shuffled(steps, seed, 'folds').map((step) => ({ step, weight: 1 }));
  let done = 0;
  const onTried = () => onProgress?.((done += 1), ROUNDS * numbers.length);
  let law = fitOnce(points, numbers, onTried);
  for (let round = 1; round < ROUNDS; round++) {
    points = weighted(points, law);
    law = fitOnce(points, numbers, onTried);
  }
  return law;
}

function fitOnce(
  points: readonly WeightedStep[],
  numbers: readonly number[],
  onTried: () => void,
): FittedLaw {
  const steps = points.map(({ step }) => step);
  const folds = foldsOf(points);
  const tried = numbers
    .map((segments) => linearPoints(steps, segments))
    .filter((tokens, i, all) => tokens.length > (all[i - 1]?.length ?? 0))
    .map((tokens) => new CalibratedDesign(tokens))
    .map((design) => {
      const error = crossValidated(design, folds);
      onTried();
      return { design, error };
    });
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

/** The points with the weights of their errors under the law. */
function weighted(points: readonly WeightedStep[], law: FittedLaw): WeightedStep[] {
  const model = new CalibratedStepTime({ ...law, overheadMs: 0, valid: {} });
  const errors = points.map(({ step }) =>
    Math.abs(model.stepUs({ ...step, kvUsage: 0 }) / 1000 / step.ms - 1),
  );
  const weights = huberWeights(errors);
  return points.map(({ step }, i) => ({ step, weight: Math.sqrt(weights[i]!) }));
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

/** The values in an order that depends only on the seed and the purpose. */
export function shuffled<T>(values: readonly T[], seed: number, purpose: string): T[] {
  const random = RandomStream.root(seed).stream('calibrate').stream(purpose);
  const result = [...values];
  for (let i = result.length - 1; i > 0; i--) {
    const other = random.integer(i + 1);
    [result[i], result[other]] = [result[other]!, result[i]!];
  }
  return result;
}
