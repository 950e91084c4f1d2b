import type { OutsideStep } from '@baton/analysis';
import type { EngineRole } from '@baton/policies';
import { type ClusterScenario, type EnginePool, stepTimesOf } from '@baton/simulation';
import { RangeGuard } from '@baton/step-time';

/** The steps of one role that lay outside of the measured range in a run. Plain data. */
export interface StepsOutside {
  readonly role: EngineRole;
  readonly steps: number;
  readonly farthest: OutsideStep;
}

/** The scenario with counts of its own, from 0, and without warnings. */
export function countedApart(scenario: ClusterScenario): ClusterScenario {
  return { ...scenario, pools: scenario.pools.map(poolApart) };
}

function poolApart(pool: EnginePool): EnginePool {
  const { stepTime } = pool.options;
  if (!(stepTime instanceof RangeGuard)) return pool;
  return { ...pool, options: { ...pool.options, stepTime: stepTime.another(() => undefined) } };
}

/** Empty when every step lay inside, or the models have no range. */
export function stepsOutside(pools: readonly EnginePool[]): StepsOutside[] {
  return stepTimesOf(pools).flatMap(({ steps_outside_range: steps, farthest_step }, at) => {
    if (!steps || farthest_step === undefined) return [];
    return [{ role: pools[at]!.role, steps, farthest: farthest_step }];
  });
}
