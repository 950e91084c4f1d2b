import { UsageError } from '@baton/config';
import { calibrate as fit, type Calibration } from '../fits/calibrate';
import { type MeasuredStep } from '../fits/measured-step';
import { HardwareError } from '@baton/hardware';
import type { CalibrationRequest } from './request';

const POINTS_MAX = 1_000_000;

/** @throws UsageError when the points are too few, too many, or all of one batch */
export function fitSteps(
  steps: readonly MeasuredStep[],
  { options }: Pick<CalibrationRequest, 'options'>,
): Calibration {
  if (steps.length > POINTS_MAX) {
    throw new UsageError(
      `There are ${steps.length} points; a fit takes at most ${POINTS_MAX}. Use a part of them.`,
    );
  }
  try {
    return fit(steps, options);
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(error.message);
    throw error;
  }
}
