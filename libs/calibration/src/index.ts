export { calibrate } from './calibrate';
export type { Calibration, CalibrationOptions } from './calibrate';
export type { FitQuality } from './fit-quality';
export { fitKvTransfer } from './kv-transfer-fit';
export type { KvTransferFit } from './kv-transfer-fit';
export { decodeStep, phaseOf, prefillStep } from './measured-step';
export type { MeasuredStep, Phase } from './measured-step';
export { parseStepLogLine, stepLogLine } from './step-log';
export type { StepLogEntry } from './step-log';
