import type { StepTimesSummary } from '@baton/analysis';
import type { EnginePool } from './scenario';

const DIGITS = 1_000;

/** The step-time model of each pool, with counts over the runs so far. */
export function stepTimesOf(pools: readonly EnginePool[]): StepTimesSummary[] {
  return pools.map(({ role, options: { stepTime } }) => {
    const { description, method = 'given', farthestOutside = 1 } = stepTime;
    return {
      role,
      method,
      description,
      ...(stepTime.heldOut === undefined ? {} : { held_out_factors: stepTime.heldOut }),
      steps_outside_range: stepTime.stepsOutsideRange ?? null,
      steps_of_unmeasured_shape: stepTime.stepsOfUnmeasuredShape ?? null,
      farthest_outside: farthestOutside > 1 ? Math.round(farthestOutside * DIGITS) / DIGITS : null,
    };
  });
}
