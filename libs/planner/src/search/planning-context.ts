import type { CostRates } from '@baton/analysis';
import { stepTimesOf } from '@baton/simulation';
import type { BatonConfig } from '@baton/config';
import { deploymentErrors } from '@baton/calibration';
import type { PolicyWatch } from '@baton/policies';
import { performTask, type PlanTask, type TaskResult } from '../candidates/plan-task';
import { type SloTarget } from '../candidates/trial';
import type { Workload } from '@baton/workload';
import { scenarioUnder } from './assumed-scenario';

/** The common data of all tasks of a plan. Plain data, so that it can be posted to a thread. */
export interface PlanningContext {
  readonly config: BatonConfig;
  readonly workload: Workload;
  readonly target: SloTarget;
  /** Undefined: no cost is reported. */
  readonly rates?: CostRates | undefined;
}

export function performIn(
  context: PlanningContext,
  task: PlanTask,
  policyWatch?: PolicyWatch,
): TaskResult {
  const { config, target, rates } = context;
  const scenario = scenarioUnder(task.assumption, task.split, context);
  const errorsAt = deploymentErrors(config, stepTimesOf(scenario.pools));
  const options = { target, seed: config.seed, errorsAt, rates, policyWatch };
  return performTask(scenario, task, options);
}
