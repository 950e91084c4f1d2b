export {
  calibrate,
  type Calibration,
  type CalibrationOptions,
  type FactorBase,
} from './fits/calibrate';
export { type Estimate, type Factors } from './fits/factor-fit';
export { type FitQuality } from './fits/fit-quality';
export { fitKvTransfer, type KvTransferFit } from './fits/kv-transfer-fit';
export {
  decodeStep,
  phaseOf,
  prefillStep,
  type MeasuredStep,
  type Phase,
} from './fits/measured-step';
export { parseStepLogLine, stepLogLine, type StepLogEntry } from './fits/step-log';
export { ERROR_TABLE, rootFolder, shippedErrors } from './files/error-files';
export {
  formatErrorTable,
  parseErrorTable,
  systemClassOf,
  type ErrorFigure,
  type ErrorRow,
} from './error-bars/error-table';
export {
  crossValidate,
  learnErrors,
  type Coverage,
  type ErrorPoint,
} from './error-bars/learn-errors';
export { deploymentErrors, type DeployedGpus } from './files/error-files';
export { factorBase, measuredPrecision } from './profiling/factor-base';
export { fitSteps } from './profiling/fit-steps';
export { FORMATS, type InputFormat } from './formats/formats';
export type { InputOptions, ReadInput } from './formats/measured';
export { readInput } from './files/read-input';
export { calibrated, type LiveSetup } from './live/calibrated';
export { isTooFar, liveJson, liveText } from './live/live-report';
export { type LiveRequest, type LoadRequest } from './live/live-request';
export { type LiveResult } from './live/live-result';
export { type Span } from './live/load-plan';
export { nameOf, ServerTarget } from './live/server-target';
export { type LiveTarget } from './live/target';
export { simulatedConfig } from './live/twin';
export { checkOperators, operatorsJson, operatorsText } from './profiling/operator-report';
export { profileYaml } from './files/profile-yaml';
export { reportJson, reportText, type Result } from './profiling/report';
export { type CalibrationRequest, type ChosenFit } from './profiling/request';
