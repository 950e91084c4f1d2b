import type { CostRates } from '@baton/analysis';
import { stepTimesOf, scenarioOf } from '@baton/simulation';
import type { BatonConfig } from '@baton/config';
import { deploymentErrors } from '@baton/calibration';
import type { PolicyWatch } from '@baton/policies';
import { AS_CONFIGURED, type Assumption } from '../candidates/assumption';
import { performTask, type TaskResult } from '../candidates/plan-task';
import { head } from '@baton/workload';
import { underAssumption } from './assumed-scenario';
import { scalingOf } from './fleet-scaling';
import type { PlanningContext } from './planning-context';

/**
 * A fleet to simulate. `search` and `measure` are as for a split; `keep` decides whether it keeps
 * the target at `rate`. Plain data.
 */
export interface FleetTask {
  readonly kind: 'search' | 'measure' | 'keep';
  /** The options that make the fleet. */
  readonly fleet: Partial<BatonConfig>;
  readonly rates: CostRates;
  /** Requests of the workload, from its beginning. */
  readonly requests: number;
  /** Requests per second. */
  readonly rate: number;
  /** Relative width of the last interval of a search. */
  readonly tolerance: number;
  /** Unset: as configured. */
  readonly assumption?: Assumption;
}

/** The result depends only on context and task. */
export function performFleet(
  context: PlanningContext,
  task: FleetTask,
  policyWatch?: PolicyWatch,
): TaskResult {
  const { target } = context;
  const config = { ...context.config, ...task.fleet };
  const scaling = task.fleet.autoscaler && scalingOf(config, target.slo);
  const workload = head(context.workload, task.requests);
  const configured = scenarioOf(config, workload, scaling ? { scaling } : {});
  const scenario = underAssumption(configured, config, task.assumption ?? AS_CONFIGURED);
  const errorsAt = deploymentErrors(config, stepTimesOf(scenario.pools));
  const { rates, tolerance, rate } = task;
  const mostTries = task.kind === 'keep' ? { mostTries: 1 } : {};
  const shared = { target, seed: config.seed, errorsAt, policyWatch };
  const options = { ...shared, rates, tolerance, ...mostTries };
  const kind = task.kind === 'keep' ? 'search' : task.kind;
  return performTask(scenario, { kind, rate }, options);
}
