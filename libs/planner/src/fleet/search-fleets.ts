import { RandomStream } from '@baton/kernel';
import { WHOLE } from '@baton/workload';
import { AS_CONFIGURED, type Assumption } from '../candidates/assumption';
import {
  type HalvingRung,
  type Ranking,
  seededStart,
  successiveHalving,
} from '../candidates/successive-halving';
import { paretoFront } from '../candidates/pareto';
import { samplePiece } from '../candidates/sample-piece';
import { type PlanTask, type TaskResult, TOLERANCE } from '../candidates/plan-task';
import { modelAssumptions } from '../search/assumed-scenario';
import { autoscalerIn } from '../search/fleet-scaling';
import { tune } from '../candidates/tune';
import type { Watch } from '../search/watch';
import { openTaskPool, type TaskPool } from '../host/task-pool';
import { type ChosenFleet, chosenFleet, isKept, usdPerRequest } from './choose-fleet';
import { type Fleet, fleetOf, overridesOf } from './fleet';
import type { PreparedFleets } from './prepare-fleets';
import { LARGEST } from './size-fleets';

/** A fleet with its figures on the largest sample on which it was simulated. */
export interface FleetResult {
  readonly fleet: Fleet;
  readonly measured: TaskResult;
  /** Goodput in each window, requests per second. Unset: it was not tried in windows. */
  readonly windows?: readonly number[] | undefined;
}

/** The figures of a fleet at a rate above the one that it is chosen for. */
export interface OverloadPoint {
  /** Load as a multiple of that rate. */
  readonly load: number;
  readonly measured: TaskResult;
}

/** The figures of a fleet at the rate that it is chosen for, under an assumption. */
export interface AssumedPoint {
  readonly assumption: Assumption;
  readonly measured: TaskResult;
}

export interface FleetsFound {
  /** Simulated on the whole workload, in the order of their groups. */
  readonly finalists: readonly FleetResult[];
  /** Dropped on a smaller sample. */
  readonly dropped: readonly FleetResult[];
  /** Finalists that no other beats in cost, goodput, TTFT, TPOT and power. */
  readonly front: readonly FleetResult[];
  /** Fleets of the best kinds, resized, that keep the target at the load of the workload. */
  readonly forLoad: readonly FleetResult[];
  /** The fleet to start. Undefined: no fleet keeps the target. */
  readonly chosen: ChosenFleet | undefined;
  /** The chosen fleet beyond its rate. */
  readonly overload: readonly OverloadPoint[];
  /** The chosen fleet at its rate, as configured and under each assumption that concerns it. */
  readonly sensitivity: readonly AssumedPoint[];
  readonly rungs: readonly HalvingRung[];
  readonly simulations: number;
}

/** Samples of the workload, the part of the trials left on each, and the tolerance of rates. */
const RUNGS = [
  { share: 1 / 16, left: 1, tolerance: 0.15 },
  { share: 1 / 4, left: 1 / 6, tolerance: 0.08 },
  { share: 1, left: 1 / 12, tolerance: TOLERANCE },
] as const;
/** Number of fleets whose engine counts are fitted to the load of the workload. */
const FITTED = 2;
/** Sizes of the fitted fleets, as multiples of the size that their goodput suggests. */
const FIT_FACTORS = [0.9, 1.05, 1.2] as const;
const OVERLOADS = [1.1, 1.25, 1.5] as const;
/** Most settings that a finalist changes. */
const MOST_PASSES = 4;

/**
 * Successive halving over the fleets of a space, in threads that end before it returns.
 *
 * @throws Failure, one sentence: a run was refused
 */
export async function searchFleets(
  prepared: PreparedFleets,
  { openPool }: { readonly openPool: () => TaskPool },
  watch: Watch,
): Promise<FleetsFound> {
  const pool = openPool();
  try {
    return await new FleetSearch(prepared, pool, watch).run();
  } finally {
    await pool.close();
  }
}

/** The pool of this machine. */
export function localPool({ context }: Pick<PreparedFleets, 'context'>, threads: number): TaskPool {
  return openTaskPool(context, threads);
}

class FleetSearch {
  private simulations = 0;

  constructor(
    private readonly prepared: PreparedFleets,
    private readonly pool: TaskPool,
    private readonly watch: Watch,
  ) {}

  async run(): Promise<FleetsFound> {
    const { space, fleets, context } = this.prepared;
    const most = space.trials;
    const rungs = RUNGS.map(({ share, left }) => ({
      share,
      trials: Math.max(1, Math.round(left * most)),
    }));
    const groupOf = ({ group }: Fleet): string => group;
    const random = RandomStream.root(context.config.seed).stream('fleets');
    const cost = ({ group, usdPerHour, estimatedRate }: Fleet): number => {
      return group === LARGEST ? -estimatedRate : usdPerHour / estimatedRate;
    };
    const start = seededStart(fleets, { most, groupOf, cost, random });
    const ranked = await successiveHalving(start, {
      rungs,
      groupOf,
      rankingsOf,
      run: (some, rung, before) => this.rung(some, rungs.indexOf(rung), before),
    });
    const results = ranked.map(({ candidate: fleet, result }) => {
      return { fleet, measured: result };
    });
    const whole = results.filter((_one, i) => ranked[i]!.rungs === RUNGS.length);
    const finalists = await this.inWindows(await this.tuned(whole));
    const dropped = results.filter((_one, i) => ranked[i]!.rungs < RUNGS.length);
    const forLoad = await this.fitted(finalists);
    const front = paretoFront([...finalists, ...forLoad].filter(isKept), costsOf);
    const chosen = chosenFleet([...forLoad, ...finalists], this.prepared.loadRps);
    const overload = chosen === undefined ? [] : await this.overload(chosen);
    const sensitivity = chosen === undefined ? [] : await this.sensitivity(chosen);
    const { simulations } = this;
    const best = { front, forLoad, chosen, overload, sensitivity };
    return { finalists, dropped, ...best, rungs, simulations };
  }

  private rung(
    fleets: readonly Fleet[],
    at: number,
    before: readonly (TaskResult | undefined)[],
  ): Promise<TaskResult[]> {
    const { share, tolerance } = RUNGS[at]!;
    const piece = samplePiece(share, this.prepared.context.workload.count);
    const tasks = fleets.map((fleet, i): PlanTask => {
      // A burst may keep the target at any rate. The rate of completions stays bounded.
      const rate = before[i]?.completedRate || fleet.estimatedRate;
      return { kind: 'search', ...this.taskOf(fleet), piece, rate, tolerance };
    });
    return this.perform(`rung ${at + 1} of ${RUNGS.length}`, tasks);
  }

  /** The finalists with the settings that suit each. */
  private async tuned(finalists: readonly FleetResult[]): Promise<FleetResult[]> {
    const starts = finalists.map(({ fleet, measured }) => ({ design: fleet, result: measured }));
    const tuned = await tune(starts, {
      movesOf: this.prepared.movesOf,
      nameOf: ({ name }) => name,
      taskOf: (fleet, rate) => ({ kind: 'beat', ...this.taskOf(fleet), rate }),
      run: (tasks) => this.perform('settings', tasks),
      mostPasses: MOST_PASSES,
    });
    return tuned.map(({ design: fleet, result: measured }) => ({ fleet, measured }));
  }

  /** The finalists with their goodput in each window of the workload. */
  private async inWindows(finalists: readonly FleetResult[]): Promise<FleetResult[]> {
    const { windows } = this.prepared;
    const kept = finalists.filter(isKept);
    const tasks = kept.flatMap(({ fleet, measured: { rate } }) => {
      return windows.map((piece): PlanTask => {
        return { kind: 'search', ...this.taskOf(fleet), piece, rate };
      });
    });
    const results = await this.perform('windows', tasks);
    return finalists.map((one) => {
      const at = kept.indexOf(one) * windows.length;
      if (at < 0 || windows.length === 0) return one;
      const own = results.slice(at, at + windows.length);
      return { ...one, windows: own.map(({ completedRate }) => completedRate) };
    });
  }

  /** The cheapest finalists, with the number of engines that the load of the workload needs. */
  private async fitted(finalists: readonly FleetResult[]): Promise<FleetResult[]> {
    const { loadRps: rate } = this.prepared;
    const best = [...finalists].filter(isKept).sort((a, b) => usdPerRequest(a) - usdPerRequest(b));
    const seen = new Set(best.map(({ fleet }) => fleet.name));
    const fleets = best.slice(0, FITTED).flatMap(({ fleet, measured }) => {
      return FIT_FACTORS.flatMap((factor) => this.resized(fleet, measured, factor));
    });
    const fresh = fleets.filter(({ name }) => !seen.has(name) && seen.add(name));
    const tasks = fresh.map((fleet): PlanTask => ({ kind: 'keep', ...this.taskOf(fleet), rate }));
    const results = await this.perform('fitting to the load', tasks);
    return fresh.map((fleet, i) => ({ fleet, measured: results[i]! }));
  }

  private resized(fleet: Fleet, measured: TaskResult, factor: number): Fleet[] {
    const { space, loadRps } = this.prepared;
    const times = (factor * loadRps) / measured.completedRate;
    const pools = fleet.pools.map(({ engine, count }) => {
      return { engine, count: Math.max(1, Math.round(times * count)) };
    });
    const resized = fleetOf({
      group: 'load',
      pools,
      varied: fleet.varied,
      estimatedRate: times * measured.completedRate,
    });
    const isThere = pools.every(({ engine }) => {
      const taken = pools.filter((each) => each.engine.gpu === engine.gpu);
      const gpus = taken.reduce((sum, each) => sum + each.count * each.engine.gpus, 0);
      return gpus <= (space.gpus.get(engine.gpu) ?? 0);
    });
    return isThere && resized.usdPerHour <= space.budgetUsdPerHour ? [resized] : [];
  }

  private async overload({ result, rate }: ChosenFleet): Promise<OverloadPoint[]> {
    const tasks = OVERLOADS.map((load): PlanTask => {
      return { kind: 'measure', ...this.taskOf(result.fleet), rate: load * rate };
    });
    const results = await this.perform('overload', tasks);
    return OVERLOADS.map((load, i) => ({ load, measured: results[i]! }));
  }

  private async sensitivity({ result, rate }: ChosenFleet): Promise<AssumedPoint[]> {
    const assumptions = this.assumptionsFor(result.fleet);
    const tasks = assumptions.map((assumption): PlanTask => {
      return { kind: 'measure', ...this.taskOf(result.fleet), rate, assumption };
    });
    const results = await this.perform('sensitivity', tasks);
    return assumptions.map((assumption, i) => ({ assumption, measured: results[i]! }));
  }

  /** Engines that an autoscaler adds do not know the assumption, so there are none with one. */
  private assumptionsFor({ pools, varied }: Fleet): Assumption[] {
    const { config } = this.prepared.context;
    if (autoscalerIn(varied) !== undefined || config.autoscaler !== undefined) return [];
    const has = (role: string): boolean => pools.some(({ engine }) => engine.role === role);
    const own = modelAssumptions(config).filter(
      ({ linkFactor, overheadFactor }) =>
        overheadFactor !== undefined || has(linkFactor === undefined ? 'aggregated' : 'prefill'),
    );
    return [AS_CONFIGURED, ...own];
  }

  private taskOf(fleet: Fleet): Pick<PlanTask, 'cluster' | 'rates' | 'piece' | 'tolerance'> {
    const rates = this.prepared.ratesFor(fleet);
    return { cluster: overridesOf(fleet), rates, piece: WHOLE, tolerance: TOLERANCE };
  }

  private async perform(stage: string, tasks: readonly PlanTask[]): Promise<TaskResult[]> {
    const results = await this.watch(stage, (onProgress) =>
      this.pool.run(tasks, (done) => onProgress(done, tasks.length)),
    );
    for (const { simulations } of results) this.simulations += simulations;
    return results;
  }
}

/** The group of the largest fleets is ranked by goodput first, the others by dollars first. */
function rankingsOf(group: string): readonly Ranking<TaskResult>[] {
  return group === LARGEST ? [({ completedRate }) => -completedRate] : RANKINGS;
}

/** Each ranking picks in turn. Dollars pick twice, because most searches minimise them. */
const RANKINGS = [
  (result: TaskResult) => perGoodput(result.figures?.cost?.usd_per_hour, result),
  (result: TaskResult) => result.figures?.ttft_ms.p90 ?? Infinity,
  (result: TaskResult) => perGoodput(result.figures?.cost?.usd_per_hour, result),
  (result: TaskResult) => result.figures?.tpot_ms.p90 ?? Infinity,
  (result: TaskResult) => perGoodput(result.figures?.cost?.mean_watts, result),
] as const;

function perGoodput(figure: number | null | undefined, { completedRate }: TaskResult): number {
  return completedRate === 0 ? Infinity : (figure ?? Infinity) / completedRate;
}

/** The criteria of the front: dollars and watts, goodput, TTFT and TPOT p90. */
function costsOf({ measured: { figures, completedRate } }: FleetResult): number[] {
  const { cost, ttft_ms: ttft, tpot_ms: tpot } = figures!;
  return [
    ...[cost?.usd_per_hour ?? Infinity, -completedRate],
    ...[ttft.p90 ?? Infinity, tpot.p90 ?? 0, cost?.mean_watts ?? 0],
  ];
}
