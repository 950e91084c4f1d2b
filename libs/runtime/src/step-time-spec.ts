import { readFileSync } from 'node:fs';
import { polynomialFromXpydProfile, type StepTimeSpec } from '@baton/hardware';
import { parse } from 'yaml';
import type { BatonConfig } from './config/config';
import { UsageError } from './config/usage-error';

/**
 * The step-time model that a configuration asks for, with its file read.
 *
 * @throws UsageError when the file is missing or cannot be read
 */
export function stepTimeSpec(config: BatonConfig): StepTimeSpec {
  const overheads = {
    overheadMs: config.stepOverheadMs,
    mixedDecodeFactor: config.mixedDecodeFactor,
  };
  const decode = {
    interTokenLatencyMs: config.interTokenLatency,
    interTokenLatencyStdDevMs: config.interTokenLatencyStdDev,
  };
  const { stepTime } = config;
  switch (stepTime) {
    case 'auto':
    case 'calibrated':
    case 'roofline':
      return { kind: stepTime, ...overheads };
    case 'constant':
      return {
        kind: stepTime,
        ...decode,
        timeToFirstTokenMs: config.timeToFirstToken,
        timeToFirstTokenStdDevMs: config.timeToFirstTokenStdDev,
      };
    case 'per-token':
      return {
        kind: stepTime,
        ...decode,
        prefillOverheadMs: config.prefillOverhead,
        prefillTimePerTokenMs: config.prefillTimePerToken,
        prefillTimeStdDevMs: config.prefillTimeStdDev,
      };
    case 'table':
      return { kind: stepTime, csv: fileOf(config) };
    case 'polynomial':
      if (config.stepTimeFile === undefined) return { kind: stepTime };
      return polynomialFromXpydProfile(parse(fileOf(config)));
  }
}

function fileOf(config: BatonConfig): string {
  const { stepTimeFile, stepTime } = config;
  if (stepTimeFile === undefined) {
    throw new UsageError(`step_time ${stepTime} needs step_time_file.`);
  }
  try {
    return readFileSync(stepTimeFile, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`step_time_file cannot be read: ${why}`);
  }
}
