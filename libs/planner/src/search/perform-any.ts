import { hasOwnPolicy } from '@baton/config';
import { type PolicyWatch, STRICT, runBounded } from '@baton/policies';
import type { PlanTask, TaskResult } from '../candidates/plan-task';
import { type FleetTask, performFleet } from './fleet-task';
import { performIn, type PlanningContext } from './planning-context';

/** A split of a plan, or a fleet of a search. */
export type PoolTask = PlanTask | FleetTask;

/** The result depends only on context and task, not on the thread or machine. */
export function performAny(context: PlanningContext, task: PoolTask): TaskResult {
  const { config } = context;
  const isOwn = hasOwnPolicy('fleet' in task ? { ...config, ...task.fleet } : config);
  if (!isOwn) return perform(context, task);
  return runBounded((call) => perform(context, task, { ...STRICT, call }));
}

function perform(context: PlanningContext, task: PoolTask, watch?: PolicyWatch): TaskResult {
  return 'fleet' in task ? performFleet(context, task, watch) : performIn(context, task, watch);
}
