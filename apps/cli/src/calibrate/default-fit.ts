import { type BatonConfig, fileName, UsageError } from '@baton/config';
import {
  type FactorBase,
  type CalibrationRequest,
  type ChosenFit,
  factorBase,
} from '@baton/calibration';
import type { Flags } from './calibrate-flags';

const OF_FACTORS = 'three factors on composed steps are fitted where these exist';

/** Options by which the steps of prefill and decode engines differ. */
const OF_ONE_ROLE = [
  ...(['prefillGpu', 'prefillTensorParallelSize'] as const),
  ...(['decodeGpu', 'decodeTensorParallelSize'] as const),
];

/** A request with the form of its fit and, for factors, the composed steps under them. */
export interface RequestWithFit {
  readonly request: CalibrationRequest;
  /** The reason for the form, if no flag chose it. */
  readonly whyFit: string | undefined;
}

/** @param config  of the measured server. @throws UsageError, one sentence */
export function withFit(
  given: Flags,
  request: CalibrationRequest,
  config: BatonConfig,
): RequestWithFit {
  const chosen = given['fit'] === undefined ? defaultFit(given, request, config) : undefined;
  const fit = chosen?.fit ?? request.options.fit;
  const base = fit === 'factors' ? { base: chosen?.base ?? baseOf(config) } : {};
  const options = { ...request.options, fit, ...base };
  return { request: { ...request, options }, whyFit: chosen?.why };
}

/**
 * The form of a fit without `--fit`: a few factors where the steps of the measured server can be
 * composed, else all parameters of a surface.
 */
function defaultFit(given: Flags, { options }: CalibrationRequest, config: BatonConfig): ChosenFit {
  const unnamed = ['model', 'gpu', 'tp'].filter((flag) => given[flag] === undefined);
  if (unnamed.length > 0) {
    const flags = unnamed.map((flag) => `--${flag}`).join(', ');
    return { fit: 'calibrated', why: `${flags} not given. With them, ${OF_FACTORS}.` };
  }
  if (options.overheadMs > 0) {
    return { fit: 'calibrated', why: '--overhead-ms is only for this form.' };
  }
  try {
    const base = baseOf(config);
    const why = 'Steps of this server can be composed. --fit calibrated fits all parameters.';
    return { fit: 'factors', base, why };
  } catch (error) {
    if (error instanceof UsageError) return { fit: 'calibrated', why: error.message };
    throw error;
  }
}

/** @throws UsageError when no steps can be composed, or not the same ones for all engines */
function baseOf(config: BatonConfig): FactorBase {
  const own = OF_ONE_ROLE.find((key) => config[key] !== undefined);
  if (own === undefined) return factorBase(config);
  throw new UsageError(
    `${fileName(own)} is set, but factors are over composed steps that are equal for all engines.`,
  );
}
