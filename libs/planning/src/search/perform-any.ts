import type { PlanTask, TaskResult } from '@baton/planner';
import { type FleetTask, performFleet } from './fleet-task';
import { performIn, type PlanningContext } from './planning-context';

/** A split of a plan, or a fleet of a search. */
export type PoolTask = PlanTask | FleetTask;

/** The result depends only on context and task, not on the thread or machine. */
export function performAny(context: PlanningContext, task: PoolTask): TaskResult {
  return 'fleet' in task ? performFleet(context, task) : performIn(context, task);
}
