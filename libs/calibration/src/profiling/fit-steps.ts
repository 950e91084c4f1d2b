import { UsageError } from '@baton/config';
import { calibrate as fit, type Calibration } from '../fits/calibrate';
import { type MeasuredStep } from '../fits/measured-step';
import { HardwareError } from '@baton/hardware';
import type { CalibrationRequest } from './request';

const POINTS_MAX = 1_000_000;
/** Largest mean error on held-out points, percent. Above it, a fit says nothing of other steps. */
const HELD_OUT_ERROR_MAX = 50;

/**
 * @throws UsageError when the points are too few, too many, or all of one batch, and when the fit
 * is wrong on points that it has not seen
 */
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
    const calibration = fit(steps, options);
    checkHeldOut(calibration);
    return calibration;
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(error.message);
    throw error;
  }
}

function checkHeldOut({ heldOut }: Calibration): void {
  const wrong = heldOut.find(({ meanErrorPercent }) => !(meanErrorPercent <= HELD_OUT_ERROR_MAX));
  if (wrong === undefined) return;
  const { phase, points, meanErrorPercent } = wrong;
  throw new UsageError(
    `The fit is refused: on ${points} held-out ${phase} steps it is wrong by ` +
      `${Math.round(meanErrorPercent)} % on average (limit ${HELD_OUT_ERROR_MAX} %). The steps ` +
      'do not have the form that is fitted, or they mix engines, models or settings. Use another ' +
      '--fit, or one kind of measurement.',
  );
}
