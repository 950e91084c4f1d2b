import {
  type CostRates,
  type ModelErrors,
  type RunRecord,
  summarise,
  type Summary,
} from '@baton/analysis';
import { classOptions, type ClusterScenario, type RunObserver, simulate } from '@baton/simulation';
import { usToSeconds } from '@baton/kernel';
import type { Piece } from '@baton/workload';
import type { Assumption } from './assumption';
import type { Settings } from './candidates';
import { findRate } from './find-rate';
import { runProfile, type RunProfile } from './run-profile';
import { countedApart, type StepsOutside, stepsOutside } from './steps-outside';
import { atRate, runWithin, type SloTarget } from './trial';

/**
 * A simulation task; plain data.
 *
 * - `search`: finds the highest rate that keeps the target, starting at `rate`.
 * - `beat`: the same, but gives up if the target is missed at `rate`.
 * - `keep`: simulates `rate`; no figures if the target is missed.
 * - `measure`: simulates `rate`.
 * - `explain`: the same, with a profile against the same requests at `idleRate`.
 */
export interface PlanTask {
  readonly kind: 'search' | 'beat' | 'keep' | 'measure' | 'explain';
  /** Options that make the cluster; the others are those of the plan's configuration. */
  readonly cluster: Settings;
  /** The part of the workload that it serves. */
  readonly piece: Piece;
  /** Requests per second. */
  readonly rate: number;
  /** For `explain`: a rate at which the engines are all but idle, requests per second. */
  readonly idleRate?: number | undefined;
  /** Relative width of the last interval of a search. */
  readonly tolerance: number;
  /** Unset: as configured. */
  readonly assumption?: Assumption | undefined;
  /** Prices and watts of the GPUs. Unset: those of the plan. */
  readonly rates?: CostRates | undefined;
}

/** The result of a task. Plain data; it depends only on the plan's inputs and the task. */
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
  /** Requests of the piece. */
  readonly requests: number;
  readonly simulations: number;
  /** Of an `explain`. */
  readonly profile?: RunProfile;
  /** Steps outside of the measured range in the run at that rate. Unset: none. */
  readonly outside?: readonly StepsOutside[];
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
  /** Watches users' own policies; by default, their first fault throws. */
  readonly policyWatch?: RunObserver['policyWatch'];
}

/** Performs a task on its cluster and piece, given as `scenario`. */
export function performTask(
  scenario: ClusterScenario,
  task: Pick<PlanTask, 'kind' | 'rate' | 'tolerance' | 'idleRate'>,
  options: TaskOptions,
): TaskResult {
  const { kind, rate: startRate, tolerance, idleRate } = task;
  const { policyWatch } = options;
  const requests = scenario.workload.count;
  if (kind === 'measure') {
    const tried = tryAt(startRate, (own) => simulate(own, { policyWatch }));
    return { rate: startRate, ...figuresOf(tried, options), requests, simulations: 1 };
  }
  if (kind === 'explain') {
    const [tried, idle] = [startRate, idleRate!].map((rate) => {
      return tryAt(rate, (own) => simulate(own, { policyWatch }));
    }) as [TriedRate, TriedRate];
    const runs = { run: tried.run, idle: idle.run };
    const profile = runProfile(runs, scenario.pools, options.target.slo);
    const figures = figuresOf(tried, options);
    return { rate: startRate, ...figures, requests, simulations: 2, profile };
  }
  const { rate, result, tries } = findRate({
    startRate,
    tolerance,
    mostTries: kind === 'keep' ? 1 : MOST_TRIES,
    isLowest: kind === 'beat',
    tryRate: (tried) => {
      return tryAt(tried, (own) => runWithin(own, { ...options.target, policyWatch }));
    },
  });
  return { rate, ...figuresOf(result, options), requests, simulations: tries };

  /** A run with its own count of steps outside of the measured range. */
  function tryAt(
    rate: number,
    run: (own: ClusterScenario) => RunRecord | undefined,
  ): TriedRate | undefined {
    const own = countedApart(atRate(scenario, rate));
    const record = run(own);
    return record && { scenario: own, run: record };
  }
}

/** A run, and the scenario whose counts it made. */
interface TriedRate {
  readonly scenario: ClusterScenario;
  readonly run: RunRecord;
}

function figuresOf(
  tried: TriedRate | undefined,
  { target, seed, errorsAt, rates }: TaskOptions,
): Pick<TaskResult, 'completedRate' | 'figures' | 'outside'> {
  if (tried === undefined) return { completedRate: 0, figures: undefined };
  const { scenario, run } = tried;
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
  const outside = stepsOutside(scenario.pools);
  return {
    completedRate: figures.completed / seconds,
    figures,
    ...(outside.length > 0 && { outside }),
  };
}
