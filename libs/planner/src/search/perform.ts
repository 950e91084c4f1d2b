import { deploymentErrors } from '@baton/calibration';
import { hasOwnPolicy } from '@baton/config';
import { type PolicyWatch, runBounded, STRICT } from '@baton/policies';
import { stepTimesOf } from '@baton/simulation';
import { pieceOf } from '@baton/workload';
import { AS_CONFIGURED } from '../candidates/assumption';
import { performTask, type PlanTask, type TaskResult } from '../candidates/plan-task';
import { configUnder, scenarioUnder } from './assumed-scenario';
import { scalingOf } from './fleet-scaling';
import type { PlanningContext } from './planning-context';

/** The result depends only on context and task, not on the thread or machine. */
export function perform(context: PlanningContext, task: PlanTask): TaskResult {
  const isOwn = hasOwnPolicy({ ...context.config, ...task.cluster });
  if (!isOwn) return performWatched(context, task);
  return runBounded((call) => performWatched(context, task, { ...STRICT, call }));
}

function performWatched(
  context: PlanningContext,
  task: PlanTask,
  policyWatch?: PolicyWatch,
): TaskResult {
  const { target } = context;
  const { assumption = AS_CONFIGURED } = task;
  const given = { ...context.config, ...task.cluster };
  const scaling = task.cluster.autoscaler && scalingOf(given, target.slo);
  const workload = pieceOf(context.workload, task.piece);
  const scenario = scenarioUnder(assumption, given, {
    workload,
    ...(scaling ? { scaling } : {}),
  });
  const config = configUnder(given, assumption);
  const errorsAt = deploymentErrors(config, stepTimesOf(scenario.pools));
  // Another GPU has other prices, or none.
  const isPriced = assumption.options?.gpu === undefined;
  const rates = isPriced ? (task.rates ?? context.rates) : assumption.rates;
  return performTask(scenario, task, { target, seed: config.seed, errorsAt, rates, policyWatch });
}
