import { type BatonConfig, resolveConfig, UsageError } from '@baton/config';
import { type CalibrationRequest, measuredPrecision } from '@baton/calibration';
import type { Flags } from './calibrate-flags';
import { FACTOR_FLAGS, flagOf, FORMAT_FLAGS } from './live-flags';

/**
 * The configuration of the server that the measurements of files are of.
 *
 * @throws UsageError, one sentence, for a flag that has no effect on the fit
 */
export function measuredConfig(given: Flags, { fit }: CalibrationRequest['options']): BatonConfig {
  const isGiven = (key: string): boolean => given[key] !== undefined;
  const idle = fit === 'factors' ? undefined : FACTOR_FLAGS.find(isGiven);
  if (idle !== undefined) {
    throw new UsageError(`${flagOf(idle)} has no effect without --fit factors. Remove it.`);
  }
  if (fit === 'factors') needsModelAndGpu(given);
  else if (!isGiven('model') || !isGiven('gpu')) {
    const format = FORMAT_FLAGS.find(isGiven);
    if (format !== undefined) throw new UsageError(`${flagOf(format)} needs --model and --gpu.`);
  }
  const flags: Record<string, string | boolean> = {};
  for (const key of ['model', 'gpu', ...FORMAT_FLAGS, ...FACTOR_FLAGS]) {
    const value = given[key];
    if (typeof value === 'string' || typeof value === 'boolean') flags[key] = value;
  }
  const { tp } = given;
  return resolveConfig({
    flags: { ...flags, ...(typeof tp === 'string' ? { tensorParallelSize: tp } : {}) },
  }).config;
}

/** @throws UsageError when factors are asked for without what their composed steps are of */
export function needsModelAndGpu(given: Flags): void {
  if (given['model'] !== undefined && given['gpu'] !== undefined) return;
  throw new UsageError('--fit factors needs --model and --gpu: factors are over composed steps.');
}

/** The request with the formats of the measured server, if its model and GPU are named. */
export function withPrecision(
  request: CalibrationRequest,
  config: BatonConfig,
): CalibrationRequest {
  const { model, gpu } = request.input;
  if (model === undefined || gpu === undefined) return request;
  const { options } = request;
  const placement = { ...options.placement, precision: measuredPrecision(config) };
  return { ...request, options: { ...options, placement } };
}
