export type { EnginePlacement } from './engine-placement';
export { checkParallel, expertGroupOf } from './engine-placement';
export { HardwareError } from './hardware-error';
export type { HardwareErrorCode } from './hardware-error';
export type { Gpu, GpuEfficiency, GpuInterconnect } from './gpu/gpu';
export { schedulerDefaults } from './gpu/scheduler-defaults';
export type { SchedulerDefaults } from './gpu/scheduler-defaults';
export { findGpu, GPUS } from './gpu/gpu-catalogue';
export { kvBytesPerToken, kvCapacityBlocks } from './kv-capacity';
export type { KvCapacityQuery } from './kv-capacity';
export { findLink, linkFromTiming, LINKS } from './link/link';
export type { Link, LinkTiming } from './link/link';
export { geometryFromConfig } from './model/geometry-from-config';
export { findModel, MODELS } from './model/model-catalogue';
export type { ModelGeometry } from './model/model-geometry';
export { activeParameterCount, parameterCount } from './model/model-geometry';
export { isCalibrated } from './profiles/shipped-profiles';
export { profileToFile, stepTimeFromProfile } from './profiles/profile-file';
export type { OperatorSource } from './composed/build-composed';
export type { TabulatedStep } from './composed/tabulated-step';
export type { OperatorTexts } from './operators/operator-texts';
export { BF16, describePrecision } from './model/precision';
export { KV_CACHE_DTYPES, QUANTIZATIONS, servedIn } from './model/quantise';
export type { KvCacheDtype, PrecisionRequest, Quantization } from './model/quantise';
export type { KvCacheFormat, Precision, WeightFormat } from './model/precision';
export type { FitError, StepTimeProfile } from './profiles/step-time-profile';
export { buildStepTimeModel } from './step-time/build-step-time-model';
export type { StepTimeSpec } from './step-time/build-step-time-model';
export { engineOverheadMs } from './step-time/engine-overhead';
export type { PolynomialSpec } from './step-time/polynomial';
export type {
  BatchAggregates,
  DecodeLaw,
  StepTimeMethod,
  StepTimeModel,
} from './step-time/step-time-model';
export { kvTimingFromXpydProfile, polynomialFromXpydProfile } from './step-time/xpyd-profile';
export { RangeGuard } from './step-time/range-guard';
export type { RangeGuardOptions } from './step-time/range-guard';
export { describeOutside } from './step-time/valid-range';
export type { OutsideRange, Range, ValidRange } from './step-time/valid-range';
export { calibrate } from './calibration/calibrate';
export type { Calibration, CalibrationOptions } from './calibration/calibrate';
export type { FitQuality } from './calibration/fit-quality';
export { fitKvTransfer } from './calibration/kv-transfer-fit';
export type { KvTransferFit } from './calibration/kv-transfer-fit';
export { decodeStep, phaseOf, prefillStep } from './calibration/measured-step';
export type { MeasuredStep, Phase } from './calibration/measured-step';
export { parseStepLogLine, stepLogLine } from './calibration/step-log';
export type { StepLogEntry } from './calibration/step-log';
