export { buildStepTimeModel, stepTimeMethodOf, type StepTimeSpec } from './build-step-time-model';
export type { OperatorSource } from './composed/build-composed';
export type { Framework } from './composed/framework';
export type { Mxfp4Activations } from './composed/kernel-choice';
export type { TabulatedStep } from './composed/tabulated-step';
export { CalibratedStepTime } from './models/calibrated';
export { FactoredStepTime, factorParts } from './models/factors';
export type { FactorProfile, FactorSpec } from './models/factors';
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
export { noiseAt, noiseFrom, type StepNoise } from './port/step-noise';
export { describeOutside } from './port/valid-range';
export type { OutsideRange, Range, ValidRange } from './port/valid-range';
export { prefillUs } from './prefill-us';
export { factorsToFile } from './profile-files/factor-file';
export { profileToFile, stepTimeFromProfile } from './profile-files/profile-file';
export type { Section } from './profile-files/profile-values';
export {
  kvTimingFromXpydProfile,
  polynomialFromXpydProfile,
  polynomialToXpydProfile,
} from './profile-files/xpyd-profile';
export { isCalibrated, shippedProfiles } from './profiles/shipped-profiles';
export type { FitError, StepTimeProfile } from './profiles/step-time-profile';
