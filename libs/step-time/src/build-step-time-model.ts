import { type EnginePlacement, expertLayers, HardwareError, stagesOf } from '@baton/hardware';
import { unreachable } from '@baton/kernel';
import {
  type ComposedSpec,
  buildComposer,
  composedStepTime,
  NO_OPERATORS,
  type OperatorSource,
} from './composed/build-composed';
import { type KernelChoice, kernelsOf } from './composed/kernel-choice';
import { type BlisSpec, BlisStepTime } from './models/blis';
import {
  type CalibratedSpec,
  calibratedStepTime,
  checkMeasuredOn,
  fittedFor,
} from './models/calibrated';
import { FactoredStepTime, type FactorProfile } from './models/factors';
import {
  type ConstantSpec,
  constantStepTime,
  type PerTokenSpec,
  perTokenStepTime,
} from './models/given-times';
import { isMockerGrid, MockerGridStepTime } from './models/mocker-grid';
import { type PolynomialSpec, PolynomialStepTime } from './models/polynomial';
import { type RooflineSpec, RooflineStepTime } from './models/roofline';
import { type TableSpec, TableStepTime } from './models/table';
import { composedPipeline, refuseWholeEngines, rooflinePipeline } from './pipeline/build-pipeline';
import type { StepTimeMethod, StepTimeModel } from './port/step-time-model';
import { isCalibrated } from './profiles/shipped-profiles';

/**
 * `composed` if operators were measured for the placement, else `calibrated` if a calibration is
 * shipped for it, else `roofline`.
 */
export interface AutoSpec extends KernelChoice {
  readonly kind: 'auto';
  readonly overheadMs?: number | undefined;
  readonly mixedDecodeFactor?: number | undefined;
  /** Tokens of the batches that run in CUDA graphs; only for composed steps. */
  readonly cudaGraphSizes?: readonly number[] | undefined;
  /**
   * True when the next batch is formed after the step before has ended; only for composed steps.
   */
  readonly isSynchronous?: boolean | undefined;
}

/** With the choices of the composed steps that the factors apply to. */
export interface FactorSpec extends Omit<ComposedSpec, 'kind'> {
  readonly kind: 'factors';
  readonly profile: FactorProfile;
  /** Added to each step; unset: the constant of the profile. */
  readonly overheadMs?: number | undefined;
}

export type StepTimeSpec =
  | AutoSpec
  | ComposedSpec
  | CalibratedSpec
  | RooflineSpec
  | BlisSpec
  | ConstantSpec
  | PerTokenSpec
  | TableSpec
  | FactorSpec
  | PolynomialSpec;

/** The method that `auto` chooses for a placement, without tabulating it. */
export function stepTimeMethodOf(
  placement: EnginePlacement,
  operators: OperatorSource,
): StepTimeMethod {
  const stages = stagesOf(placement);
  const isComposed = (stage: EnginePlacement) =>
    typeof buildComposer(stage, {}, operators) !== 'string';
  if (stages.every(isComposed)) return 'composed';
  return isCalibrated(placement) ? 'calibrated' : 'estimated';
}

/**
 * The step-time model that a specification names, for one engine. Formulas, sources and ranges:
 * docs/step-time.md.
 *
 * @param operators source of measured operators; without it nothing is composed
 * @throws HardwareError `not-measured`, `not-calibrated`, `bad-tensor-parallel`,
 * `bad-pipeline-parallel`, `bad-expert-parallel`, `bad-profile`
 */
export function buildStepTimeModel(
  spec: StepTimeSpec,
  placement: EnginePlacement,
  operators: OperatorSource = NO_OPERATORS,
): StepTimeModel {
  if ((placement.pp ?? 1) > 1) return pipelined(spec, placement, operators);
  switch (spec.kind) {
    case 'auto': {
      const composed = composedStepTime({ ...spec, kind: 'composed' }, placement, operators);
      if (typeof composed !== 'string') return composed;
      const kind = isCalibrated(placement) ? 'calibrated' : 'roofline';
      return buildStepTimeModel({ ...spec, kind }, placement);
    }
    case 'composed': {
      const composed = composedStepTime(spec, placement, operators);
      return typeof composed === 'string' ? refuseComposing(composed) : composed;
    }
    case 'calibrated':
      return calibratedStepTime(spec, placement);
    case 'factors':
      return factored(spec, placement, operators);
    case 'roofline':
      return new RooflineStepTime(spec, placement);
    case 'blis':
      return new BlisStepTime(spec, placement);
    case 'constant':
      return constantStepTime(spec);
    case 'per-token':
      return perTokenStepTime(spec);
    case 'table':
      return isMockerGrid(spec.csv)
        ? new MockerGridStepTime(spec.csv)
        : new TableStepTime(spec, placement);
    case 'polynomial':
      return new PolynomialStepTime(spec);
    default:
      return unreachable(spec);
  }
}

/** @throws HardwareError `not-measured` */
function pipelined(
  spec: StepTimeSpec,
  placement: EnginePlacement,
  operators: OperatorSource,
): StepTimeModel {
  const { kind } = spec;
  if (kind === 'roofline') return rooflinePipeline(spec, placement);
  if (kind !== 'auto' && kind !== 'composed') return refuseWholeEngines(kind, placement);
  const composed = composedPipeline({ ...spec, kind: 'composed' }, placement, operators);
  if (typeof composed !== 'string') return composed;
  if (kind === 'auto') return rooflinePipeline({ ...spec, kind: 'roofline' }, placement);
  return refuseComposing(composed);
}

function refuseComposing(why: string): never {
  throw new HardwareError('not-measured', `No step can be composed: ${why}.`);
}

/** @throws HardwareError `not-calibrated`, `not-measured` */
function factored(
  { profile, overheadMs, ...choices }: FactorSpec,
  placement: EnginePlacement,
  operators: OperatorSource,
): FactoredStepTime {
  checkMeasuredOn(profile, placement);
  checkFittedAt(profile, choices, placement);
  if (profile.ownOperators !== operators.ownSum) throw otherOperators(profile.ownOperators);
  const composed = { ...choices, kind: 'composed', overheadMs: 0 } as const;
  const base = composedStepTime(composed, placement, operators);
  const constantMs = overheadMs ?? profile.constantMs;
  if (typeof base !== 'string') return new FactoredStepTime(base, { ...profile, constantMs });
  throw new HardwareError(
    'not-measured',
    `The factors of a profile need composed steps, and none can be composed: ${base}.`,
  );
}

/**
 * Factors on the kernels of one framework are not those on another's. Ranks of a model without
 * experts share nothing, so their number has no effect on its steps.
 */
function checkFittedAt(
  profile: FactorProfile,
  { framework }: KernelChoice,
  { model, dp, expertParallel }: EnginePlacement,
): void {
  const hasExperts = expertLayers(model) > 0;
  const describe = (one: Pick<FactorProfile, 'framework' | 'dp' | 'expertParallel'>): string => {
    const ranks = hasExperts ? ` over ${one.dp ?? 1} data-parallel ranks` : '';
    const experts = hasExperts && one.expertParallel === true ? ' with expert parallelism' : '';
    return `${one.framework ?? kernelsOf({}).framework}${ranks}${experts}`;
  };
  const [fitted, requested] = [describe(profile), describe({ framework, dp, expertParallel })];
  if (fitted !== requested) throw fittedFor(fitted, requested);
}

function otherOperators(fitted: string | undefined): HardwareError {
  return new HardwareError(
    'not-calibrated',
    fitted === undefined
      ? 'The factors of a profile were fitted over the shipped operators. Remove operators.'
      : `The factors of a profile were fitted over your own operators (${fitted}). Set operators ` +
          'to that folder, unchanged.',
  );
}
