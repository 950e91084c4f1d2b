import {
  type CostRates,
  type ModelErrors,
  type RunRecord,
  summarise,
  type Summary,
} from '@baton/analysis';
import { classOptions, type ClusterScenario, type RunObserver, simulate } from '@baton/simulation';
import { usToSeconds } from '@baton/kernel';
import type { Assumption } from './assumption';
import type { Candidate } from './candidates';
import { findRate } from './find-rate';
import { atRate, runWithin, type SloTarget } from './trial';

/**
 * A simulation task. `search`: finds the highest rate that keeps the target, starting at `rate`.
 * `measure`: simulates `rate`. Plain data.
 */
export interface PlanTask {
  readonly kind: 'search' | 'measure';
  readonly split: Candidate;
  readonly assumption: Assumption;
  /** Requests per second. */
  readonly rate: number;
}

/** The result of a task. Plain data; it depends only on scenario and task. */
export interface TaskResult {
  /** The found rate, 0 when none keeps the target; or the requested one. */
  readonly rate: number;
  /**
   * Requests per second that are completed at that rate, from the first arrival to the end. In a
   * long run that is the rate itself. A short one may keep the target at any rate, because a whole
   * burst can be in time; the completed rate stays bounded.
   */
  readonly completedRate: number;
  /** At that rate; undefined when none was found. */
  readonly figures: PlanFigures | undefined;
  readonly simulations: number;
}

/** A summary without the wall clock. */
export type PlanFigures = Omit<Summary, 'wall_seconds' | 'requests_per_wall_second' | 'config'>;

/** Relative width of the interval in which the rate is known at the end. */
export const TOLERANCE = 0.02;
const MOST_TRIES = 40;

export interface TaskOptions {
  readonly target: SloTarget;
  readonly seed: number;
  /** Errors of the step times under a load. Unset: step times are taken as exact. */
  readonly errorsAt?: (load: number) => ModelErrors;
  /** Prices and watts of the GPUs; without them no cost is reported. */
  readonly rates?: CostRates | undefined;
  /** Relative width of the last interval of a search; default: `TOLERANCE`. */
  readonly tolerance?: number;
  /** Watches users' own policies; by default, their first fault throws. */
  readonly policyWatch?: RunObserver['policyWatch'];
  /** Most runs of a search; 1 tries only the rate of the task. Default: 40. */
  readonly mostTries?: number;
}

/** Performs a task on its split, given as `scenario`. */
export function performTask(
  scenario: ClusterScenario,
  task: Pick<PlanTask, 'kind' | 'rate'>,
  options: TaskOptions,
): TaskResult {
  if (task.kind === 'measure') {
    const { policyWatch } = options;
    const run = simulate(atRate(scenario, task.rate), { policyWatch });
    return { rate: task.rate, ...figuresOf(scenario, run, options), simulations: 1 };
  }
  const { rate, result, tries } = findRate({
    startRate: task.rate,
    tolerance: options.tolerance ?? TOLERANCE,
    mostTries: options.mostTries ?? MOST_TRIES,
    tryRate: (tried) =>
      runWithin(scenario, tried, { ...options.target, policyWatch: options.policyWatch }),
  });
  return { rate, ...figuresOf(scenario, result, options), simulations: tries };
}

function figuresOf(
  scenario: ClusterScenario,
  run: RunRecord | undefined,
  { target, seed, errorsAt, rates }: TaskOptions,
): Pick<TaskResult, 'completedRate' | 'figures'> {
  if (run === undefined) return { completedRate: 0, figures: undefined };
  const summary = summarise(run, {
    slo: target.slo,
    wallSeconds: NaN,
    seed,
    rates,
    classes: classOptions(scenario),
    ...(errorsAt === undefined ? {} : { errorsAt }),
  });
  const { wall_seconds: _wall, requests_per_wall_second: _speed, ...figures } = summary;
  const seconds = usToSeconds(run.endUs - run.log.arrivalUs.at(0));
  return { completedRate: figures.completed / seconds, figures };
}
