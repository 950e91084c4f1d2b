import { HardwareError } from '@baton/hardware';
import { assert } from '@baton/kernel';
import {
  factorsToFile,
  polynomialToXpydProfile,
  profileToFile,
  type Section,
  CalibratedStepTime,
  FactoredStepTime,
  type FactorProfile,
  type FitError,
  type HeldOutByPhase,
  polynomialRange,
  PolynomialStepTime,
  type StepTimeModel,
  type StepTimeProfile,
  type ValidRange,
} from '@baton/step-time';
import { fitCalibrated, type Pieces, shuffled } from './calibrated-fit';
import { type Factors, fitFactors } from './factor-fit';
import { type FitQuality, qualityOf } from './fit-quality';
import { distinctBatches, type MeasuredStep, type Phase, PHASES, phaseOf } from './measured-step';
import { measuredRange } from './measured-range';
import { heldOutFactors, noiseOf } from './residuals';
import { fitPolynomial } from './polynomial-fit';

export interface CalibrationOptions {
  readonly fit: 'calibrated' | 'factors' | 'polynomial';
  /** For `factors` only: composed step times without overhead, and their inputs. */
  readonly base?: FactorBase;
  /** Every k-th of the shuffled points is held out of the fit. 0: none. */
  readonly holdOutEvery: number;
  readonly seed: number;
  /** Only for `linear`. Default: chosen by cross-validation. */
  readonly pieces?: Pieces;
  /** The model, GPU, tensor parallelism and formats of the measurements, where known. */
  readonly placement: Pick<StepTimeProfile, 'model' | 'gpu' | 'tp' | 'precision'>;
  /** Whether each point is one single step, so that the scatter of points is that of steps. */
  readonly hasSingleSteps?: boolean;
  /** Added to each step in use, in ms. 0 when whole steps were measured. */
  readonly overheadMs: number;
  /** Receives the share of the fit that is done. */
  readonly onProgress?: (done: number, whole: number) => void;
}

export interface FactorBase {
  readonly model: ConstructorParameters<typeof FactoredStepTime>[0];
  /** Inputs of composed steps besides model, GPU and tensor parallelism. */
  readonly fittedAt: Pick<
    FactorProfile,
    'precision' | 'framework' | 'dp' | 'expertParallel' | 'ownOperators'
  >;
}

export interface Calibration {
  /** The profile to write; `stepTimeFromProfile` reads it. */
  readonly file: Section;
  readonly fitted: readonly FitQuality[];
  /** Quality on the held-out points. */
  readonly heldOut: readonly FitQuality[];
  readonly valid: ValidRange;
  /** For `factors` only. */
  readonly factors?: Factors;
  /** The range of four of five held-out steps, measured over modelled. */
  readonly heldOutFactors: HeldOutByPhase;
}

/** Fewest different batches that can be fitted. */
const FEWEST_BATCHES = 3;
/** With fewer points, none is held out and all are used for the fit. */
const FEWEST_FOR_HOLD_OUT = 10;

/**
 * Fits a step-time model to measured steps. Returns its quality on the fitted points, and
 * separately on held-out ones. Equal steps and seed give equal profiles.
 *
 * @throws HardwareError `bad-points` when the points cannot be fitted
 */
export function calibrate(
  steps: readonly MeasuredStep[],
  options: CalibrationOptions,
): Calibration {
  checkSteps(steps, options.fit === 'factors' ? 1 : FEWEST_BATCHES);
  const { training, heldOut } = split(steps, options);
  const fit = fitOf(training, options);
  const valid = options.fit === 'polynomial' ? fit.valid : measuredRange(steps);
  const fitted = qualityOf(fit.model, training);
  const residuals = {
    heldOut: heldOutFactors(fit.model, heldOut),
    ...(options.hasSingleSteps === true ? { noise: noiseOf(fit.model, steps) } : {}),
  };
  return {
    file: fit.toFile(fitted, { ...residuals, valid }),
    fitted,
    heldOut: qualityOf(fit.model, heldOut),
    heldOutFactors: residuals.heldOut,
    valid,
    ...(fit.factors && { factors: fit.factors }),
  };
}

/** The parts of a profile that come from comparing a fit with the points. */
type Measured = Pick<StepTimeProfile, 'valid' | 'heldOut' | 'noise'>;

interface Fit {
  readonly factors?: Factors;
  /** The model without the overhead that is added in use, to be compared with the points. */
  readonly model: StepTimeModel;
  readonly valid: ValidRange;
  toFile(fitted: readonly FitQuality[], measured: Measured): Section;
}

function fitOf(training: readonly MeasuredStep[], options: CalibrationOptions): Fit {
  if (options.fit === 'factors') return factored(training, options);
  return options.fit === 'polynomial' ? polynomial(training) : calibrated(training, options);
}

function factored(training: readonly MeasuredStep[], options: CalibrationOptions): Fit {
  const { base, placement } = options;
  assert(base !== undefined, 'factors are over a composed model');
  const factors = fitFactors(training, base.model, options.onProgress);
  const values = {
    prefill: digits(factors.prefill.value),
    decode: digits(factors.decode.value),
    constantMs: digits(factors.constantMs.value),
  };
  return {
    factors,
    model: new FactoredStepTime(base.model, { ...values, valid: {} }),
    valid: {},
    toFile: (fitted, measured) =>
      factorsToFile(
        {
          ...placement,
          ...base.fittedAt,
          ...values,
          ...measured,
          prefillErrorPercent: errorOf(fitted, 'prefill'),
          decodeErrorPercent: errorOf(fitted, 'decode'),
        },
        {
          prefill: digits(factors.prefill.standardError),
          decode: digits(factors.decode.standardError),
          constant_ms: digits(factors.constantMs.standardError),
        },
      ),
  };
}

/** Rounds to more digits than any measurement has. */
function digits<T extends number | null>(value: T): T {
  return (value === null ? null : Number(value.toPrecision(5))) as T;
}

function calibrated(training: readonly MeasuredStep[], options: CalibrationOptions): Fit {
  const law = fitCalibrated(training, options);
  return {
    model: new CalibratedStepTime({ ...law, overheadMs: 0, valid: {} }),
    valid: {},
    toFile: (fitted, measured) =>
      profileToFile({
        ...options.placement,
        ...law,
        overheadMs: options.overheadMs,
        ...measured,
        prefillErrorPercent: errorOf(fitted, 'prefill'),
        decodeErrorPercent: errorOf(fitted, 'decode'),
      }),
  };
}

function polynomial(training: readonly MeasuredStep[]): Fit {
  const spec = fitPolynomial(training);
  return {
    model: new PolynomialStepTime(spec),
    valid: polynomialRange(spec.prefill, spec.decode),
    toFile: () => ({ kind: 'polynomial', ...polynomialToXpydProfile(spec) }),
  };
}

function errorOf(fitted: readonly FitQuality[], phase: Phase): FitError | undefined {
  const quality = fitted.find((each) => each.phase === phase);
  if (quality === undefined) return undefined;
  const rounded = (percent: number) => Number(percent.toFixed(2));
  return {
    mean: rounded(quality.meanErrorPercent),
    max: rounded(Math.abs(quality.maxErrorPercent)),
  };
}

function split(
  steps: readonly MeasuredStep[],
  { holdOutEvery, seed }: CalibrationOptions,
): { training: MeasuredStep[]; heldOut: MeasuredStep[] } {
  const order = shuffled(steps, seed, 'hold-out');
  if (holdOutEvery === 0 || steps.length < FEWEST_FOR_HOLD_OUT) {
    return { training: order, heldOut: [] };
  }
  const isHeldOut = (_: MeasuredStep, i: number) => i % holdOutEvery === holdOutEvery - 1;
  return {
    training: order.filter((step, i) => !isHeldOut(step, i)),
    heldOut: order.filter(isHeldOut),
  };
}

function checkSteps(steps: readonly MeasuredStep[], fewestBatches: number): void {
  if (steps.length === 0) throw badPoints('there are none');
  steps.forEach((step, i) => {
    const isTime = Number.isFinite(step.ms) && step.ms > 0;
    if (!isTime) throw badPoints(`point ${i + 1} takes ${step.ms} ms`);
  });
  for (const phase of PHASES) {
    const own = steps.filter((step) => phaseOf(step) === phase);
    const different = distinctBatches(own);
    if (own.length === 0 || phase === 'mixed' || different >= fewestBatches) continue;
    const which = different === 1 ? 'all of the same batch' : `of ${different} different batches`;
    throw badPoints(
      `${own.length} of ${phase} are ${which}; at least ${fewestBatches} different ones ` +
        'are needed',
    );
  }
  if (steps.every((step) => phaseOf(step) === 'mixed')) {
    throw badPoints('all are of mixed steps; add pure prefill or decode steps');
  }
}

function badPoints(why: string): HardwareError {
  return new HardwareError('bad-points', `The points cannot be fitted: ${why}.`);
}
