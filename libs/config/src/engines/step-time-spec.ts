import type { StepTimeSpec } from '@baton/step-time';
import { type BatonConfig } from '../config';
import { UsageError } from '../usage-error';
import { stepTimeFromFile } from './step-time-file';

/**
 * The step-time model of a configuration, with its file read.
 *
 * @throws UsageError when the file is missing, cannot be read, or holds another kind of model
 */
export function stepTimeSpec(config: BatonConfig): StepTimeSpec {
  const { stepTime, stepTimeFile } = config;
  switch (stepTime) {
    case 'auto':
      return stepTimeFile === undefined
        ? { kind: stepTime, ...overheads(config) }
        : withOverheads(stepTimeFromFile(stepTimeFile), config);
    case 'calibrated':
    case 'polynomial':
    case 'blis':
    case 'table':
      return fromFile(config, stepTime);
    case 'composed':
    case 'roofline':
      return { kind: stepTime, ...overheads(config) };
    case 'constant':
      return {
        kind: stepTime,
        ...decodeTimes(config),
        ...load(config),
        timeToFirstTokenMs: config.timeToFirstToken,
        timeToFirstTokenStdDevMs: config.timeToFirstTokenStdDev,
      };
    case 'per-token':
      return {
        kind: stepTime,
        ...decodeTimes(config),
        ...load(config),
        prefillOverheadMs: config.prefillOverhead,
        prefillTimePerTokenMs: config.prefillTimePerToken,
        prefillTimeStdDevMs: config.prefillTimeStdDev,
      };
  }
}

/** The kinds of model that a file may hold. All but a table have a built-in default. */
type FileKind = 'calibrated' | 'polynomial' | 'blis' | 'table';

function fromFile(config: BatonConfig, kind: FileKind): StepTimeSpec {
  const { stepTimeFile } = config;
  if (stepTimeFile === undefined) {
    if (kind === 'table') throw new UsageError('step_time table needs step_time_file.');
    return withOverheads({ kind }, config);
  }
  const spec = stepTimeFromFile(stepTimeFile);
  if (spec.kind === kind) return withOverheads(spec, config);
  if (kind === 'calibrated' && spec.kind === 'factors') return withOverheads(spec, config);
  throw new UsageError(
    `step_time ${kind} cannot use step_time_file ${stepTimeFile}, which holds a model of ` +
      `kind ${spec.kind}.`,
  );
}

function withOverheads(spec: StepTimeSpec, config: BatonConfig): StepTimeSpec {
  const isFitted = spec.kind === 'calibrated' || spec.kind === 'factors';
  return isFitted ? { ...spec, ...overheads(config) } : spec;
}

function overheads({ stepOverheadMs, mixedDecodeFactor }: BatonConfig) {
  return { overheadMs: stepOverheadMs, mixedDecodeFactor };
}

function decodeTimes({ interTokenLatency, interTokenLatencyStdDev }: BatonConfig) {
  return {
    interTokenLatencyMs: interTokenLatency,
    interTokenLatencyStdDevMs: interTokenLatencyStdDev,
  };
}

function load({ timeFactorUnderLoad, maxNumSeqs }: BatonConfig) {
  return { timeFactorUnderLoad, maxNumSeqs };
}
