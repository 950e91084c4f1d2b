export { calibrate, type Calibration, type FactorBase } from './fits/calibrate';
export { fitKvTransfer } from './fits/kv-transfer-fit';
export { decodeStep, phaseOf, prefillStep, type MeasuredStep } from './fits/measured-step';
export { parseStepLogLine, stepLogLine } from './fits/step-log';
export { ERROR_TABLE, rootFolder } from './files/error-files';
export { formatErrorTable, systemClassOf } from './error-bars/error-table';
export {
  crossValidate,
  learnErrors,
  type Coverage,
  type ErrorPoint,
} from './error-bars/learn-errors';
export { deploymentErrors } from './files/error-files';
export { factorBase, measuredPrecision } from './profiling/factor-base';
export { fitSteps } from './profiling/fit-steps';
export { FORMATS } from './formats/formats';
export type { ReadInput } from './formats/measured';
export { readInput } from './files/read-input';
export { calibrated } from './live/calibrated';
export { isTooFar, liveJson, liveText } from './live/live-report';
export { type LiveRequest, type LoadRequest } from './live/live-request';
export { type Span } from './live/load-plan';
export { nameOf, ServerTarget } from './live/server-target';
export { simulatedConfig } from './live/twin';
export { checkOperators, operatorsJson, operatorsText } from './profiling/operator-report';
export { profileYaml } from './files/profile-yaml';
export { reportJson, reportText, type Result } from './profiling/report';
export { type CalibrationRequest, type ChosenFit } from './profiling/request';
