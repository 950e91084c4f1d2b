export { buildStepTimeModel, stepTimeMethodOf, type StepTimeSpec } from './build-step-time-model';
export type { OperatorSource } from './composed/build-composed';
export { type Framework } from './composed/framework';
export type { Mxfp4Activations } from './composed/kernel-choice';
export { StepComposer } from './composed/step-composer';
export type { StepOperator } from './composed/step-operator';
export type { TabulatedStep } from './composed/tabulated-step';
export { CalibratedStepTime } from './models/calibrated';
export { FactoredStepTime, factorParts, type FactorProfile } from './models/factors';
export {
  PolynomialStepTime,
  polynomialRange,
  type BatchContextPolynomial,
  type PolynomialSpec,
} from './models/polynomial';
export type { HeldOutByPhase, HeldOutFactors } from './port/held-out-factors';
export { forEstimates, RangeGuard } from './port/range-guard';
export type {
  BatchAggregates,
  DecodeLaw,
  StepTimeMethod,
  PipelineTimes,
  StepTimeModel,
} from './port/step-time-model';
export { noiseAt, noiseFrom, StepScatter, type StepNoise } from './port/step-noise';
export {
  describeOutside,
  type OutsideRange,
  type Range,
  type ValidRange,
} from './port/valid-range';
export { prefillUs } from './prefill-us';
export { shippedProfiles } from './profiles/shipped-profiles';
export type { FitError, StepTimeProfile } from './profiles/step-time-profile';
export { busyUs, passUs, VLLM_FRONT_END, type FrontEnd } from './front-end/front-end';
export { FrontEndError, frontEndFromFields } from './front-end/front-end-from-fields';
export { OperatorTables } from './operators/operator-tables';
export { type OperatorTexts } from './operators/operator-texts';
export { heldOutErrors, type HeldOutErrors, type OwnTableAt } from './operators/own/held-out';
export { mergedTable } from './operators/own/merged-table';
export { isProblem, readOwnTable } from './operators/own/own-table';
export { repeatedRatios } from './operators/own/repeated';
export { layoutOf, OPERATOR_NAMES } from './operators/own/table-layout';
export { elementwiseUs, missingFigure } from './operators/system-facts';
export { factorsToFile } from './profile-files/factor-file';
export { profileToFile, stepTimeFromProfile } from './profile-files/profile-file';
export { type Section } from './profile-files/profile-values';
export { kvTimingFromXpydProfile, polynomialToXpydProfile } from './profile-files/xpyd-profile';
