import { type RunRecord, summarise, type Summary } from '@baton/analysis';
import { simulate } from '@baton/cluster';
import type { BatonConfig } from '@baton/config';
import { usToSeconds } from '@baton/kernel';
import { atRate, type Candidate, findRate, runWithin, type SloTarget } from '@baton/planner';
import type { Workload } from '@baton/workload';
import { type Assumption, scenarioUnder } from './assumption';

/** What all tasks of a plan share. Plain data, so that it can be posted to a thread. */
export interface PlanningContext {
  readonly config: BatonConfig;
  readonly workload: Workload;
  readonly target: SloTarget;
}

/**
 * Something to simulate. `search`: the highest rate that keeps the target, from `rate` on.
 * `measure`: what happens at `rate`. Plain data.
 */
export interface PlanTask {
  readonly kind: 'search' | 'measure';
  readonly split: Candidate;
  readonly assumption: Assumption;
  /** Requests per second. */
  readonly rate: number;
}

/** What came out. Plain data, and a function of context and task alone. */
export interface TaskResult {
  /** The rate that was found, 0 when none keeps the target; or the one that was asked for. */
  readonly rate: number;
  /**
   * Requests per second that are completed at that rate, from the first arrival to the end. In a
   * long run that is the rate itself. A short one may keep the target at any rate, for all of a
   * burst can be in time; what is completed per second stays bounded.
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

export function performTask(context: PlanningContext, task: PlanTask): TaskResult {
  const scenario = scenarioUnder(task.assumption, task.split, context);
  if (task.kind === 'measure') {
    const run = simulate(atRate(scenario, task.rate));
    return { rate: task.rate, ...told(run, context), simulations: 1 };
  }
  const { rate, result, tries } = findRate({
    startRate: task.rate,
    tolerance: TOLERANCE,
    mostTries: MOST_TRIES,
    tryRate: (tried) => runWithin(scenario, tried, context.target),
  });
  return { rate, ...told(result, context), simulations: tries };
}

function told(
  run: RunRecord | undefined,
  { config, target }: PlanningContext,
): Pick<TaskResult, 'completedRate' | 'figures'> {
  if (run === undefined) return { completedRate: 0, figures: undefined };
  const summary = summarise(run, { slo: target.slo, wallSeconds: NaN, seed: config.seed });
  const { wall_seconds: _wall, requests_per_wall_second: _speed, ...figures } = summary;
  const seconds = usToSeconds(run.endUs - run.log.arrivalUs[0]!);
  return { completedRate: figures.completed / seconds, figures };
}
