import { BF16, describePrecision, type EnginePlacement, goesBy } from '@baton/hardware';
import { engineOverheadMs } from '../port/engine-overhead';
import type { CalibratedProfile } from './calibrated-profile';
import { CALIBRATED_PROFILES, LINEAR_TOKENS } from './calibrated-profiles';
import type { StepTimeProfile } from './step-time-profile';

/** The formats of all of data/profiles/calibration_grid.csv. */
const PRECISION = describePrecision(BF16);

/**
 * Whether a calibration is shipped for exactly this model, GPU, degree and formats; all are without
 * pipeline stages.
 */
export function isCalibrated(placement: EnginePlacement): boolean {
  const isMeasured = describePrecision(placement.model.precision) === PRECISION;
  return (placement.pp ?? 1) === 1 && isMeasured && calibrationOf(placement) !== undefined;
}

/**
 * The shipped calibration of a placement. Its kernels' times get the documented engine overhead.
 */
export function shippedProfile(placement: EnginePlacement): StepTimeProfile | undefined {
  const calibration = calibrationOf(placement);
  if (calibration === undefined) return undefined;
  const { linearMs, ...profile } = calibration;
  return {
    ...profile,
    precision: PRECISION,
    linear: { tokens: LINEAR_TOKENS, ms: linearMs },
    overheadMs: engineOverheadMs(placement.tp),
    valid: { stepTokens: [LINEAR_TOKENS[0]!, LINEAR_TOKENS.at(-1)!] },
  };
}

/** The shipped profiles, such as `Llama-3.1-8B on H100-SXM-80GB TP1`, for an error message. */
export function shippedPlacements(): string[] {
  return CALIBRATED_PROFILES.map(({ model, gpu, tp }) => `${model} on ${gpu} TP${tp}`);
}

function calibrationOf({ model, gpu, tp }: EnginePlacement): CalibratedProfile | undefined {
  return CALIBRATED_PROFILES.find(
    (profile) => profile.tp === tp && goesBy(gpu, profile.gpu) && goesBy(model, profile.model),
  );
}

/** Every shipped calibration: its purpose, and its fit to the measured points. */
export function shippedProfiles(): readonly Omit<CalibratedProfile, 'linearMs'>[] {
  return CALIBRATED_PROFILES;
}
