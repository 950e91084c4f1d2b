export {
  buildStepTimeModel,
  type FactorSpec,
  stepTimeMethodOf,
  type StepTimeSpec,
} from './build-step-time-model';
export type { OperatorSource } from './composed/build-composed';
export { type Framework, FRAMEWORKS } from './composed/framework';
export type { Mxfp4Activations } from './composed/kernel-choice';
export { StepComposer } from './composed/step-composer';
export type { StepOperator } from './composed/step-operator';
export type { TabulatedStep } from './composed/tabulated-step';
export type { BlisSpec } from './models/blis';
export { CalibratedStepTime } from './models/calibrated';
export type { CalibratedSpec } from './models/calibrated';
export { FactoredStepTime, factorParts } from './models/factors';
export type { FactorProfile } from './models/factors';
export { PolynomialStepTime, polynomialRange } from './models/polynomial';
export type { BatchContextPolynomial, PolynomialSpec } from './models/polynomial';
export { engineOverheadMs } from './port/engine-overhead';
export type { HeldOutByPhase, HeldOutFactors } from './port/held-out-factors';
export { forEstimates, RangeGuard, type RangeGuardOptions } from './port/range-guard';
export type {
  BatchAggregates,
  DecodeLaw,
  StepTimeMethod,
  PipelineTimes,
  StepTimeModel,
} from './port/step-time-model';
export { NOISE_PROBABILITIES, noiseAt, noiseFrom, StepScatter } from './port/step-noise';
export type { StepNoise } from './port/step-noise';
export { describeOutside } from './port/valid-range';
export type { OutsideRange, Range, ValidRange } from './port/valid-range';
export { prefillUs } from './prefill-us';
export { isCalibrated, shippedProfiles } from './profiles/shipped-profiles';
export type { FitError, StepTimeProfile } from './profiles/step-time-profile';
