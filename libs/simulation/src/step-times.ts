import type { OutsideStep, StepTimesSummary } from '@baton/analysis';
import type { OutsideRange } from '@baton/step-time';
import type { EnginePool } from './scenario';

const DIGITS = 1_000;

/** The step-time model of each pool, with counts over the runs so far. */
export function stepTimesOf(pools: readonly EnginePool[]): StepTimesSummary[] {
  return pools.map(({ role, options: { stepTime } }) => {
    const { description, method = 'given', farthestOutside = 1, farthest } = stepTime;
    return {
      role,
      method,
      description,
      ...(stepTime.heldOut === undefined ? {} : { held_out_factors: stepTime.heldOut }),
      steps_outside_range: stepTime.stepsOutsideRange ?? null,
      steps_of_unmeasured_shape: stepTime.stepsOfUnmeasuredShape ?? null,
      farthest_outside: farthestOutside > 1 ? rounded(farthestOutside) : null,
      ...(farthest && { farthest_step: shown(farthest) }),
    };
  });
}

function shown({ what, value, range: [low, high] }: OutsideRange): OutsideStep {
  return { what, value: rounded(value), measured: [rounded(low), rounded(high)] };
}

function rounded(value: number): number {
  return Math.round(value * DIGITS) / DIGITS;
}
