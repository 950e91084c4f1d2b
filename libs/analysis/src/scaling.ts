import { type Micros, ROLE_LETTERS, usToSeconds } from '@baton/kernel';
import { roundTo } from './round-to';
import type { EngineRoleName, RunRecord } from './run-record';
import type { LifeState, ScaleEvent } from './scaling-record';
import { type StartupSummary, startupSummary } from './startups';

const ROLES: readonly EngineRoleName[] = ['prefill', 'decode', 'aggregated'];
const SECONDS_PER_HOUR = 3_600;
/** Number of points of the series over time. */
const POINTS = 200;

type Counts = Readonly<Record<EngineRoleName, number>>;

/** The yardsticks of a run with an autoscaler. */
export interface ScalingOptions {
  readonly autoscaler: string;
  /** Fewest engines by role, as a topology: `1P1D`. */
  readonly min: string;
  readonly max: string;
  readonly fewest: Counts;
  readonly most: Counts;
  readonly intervalUs: Micros;
  readonly gpusPerEngine: Counts;
  /** Data-parallel ranks of an engine; each has its own events. */
  readonly ranksPerEngine: number;
  /** Engines that the load needs, of each window. */
  readonly demand: { readonly windowUs: Micros; readonly ofWindow: (window: number) => Counts };
}

type Rate = number | null;

/** Engine-hours and shares of time; docs/autoscaling.md defines each name. */
export interface RoleScaling {
  readonly engine_hours: Rate;
  readonly ready_mean: Rate;
  readonly demand_mean: Rate;
  /** Share of time with fewer ready engines than the demand. */
  readonly under_share: Rate;
  readonly over_share: Rate;
  readonly under_engine_hours: Rate;
  readonly over_engine_hours: Rate;
}

export interface ScalingSeries {
  readonly ready: readonly number[];
  /** Engines that load or drain. */
  readonly changing: readonly number[];
  readonly demand: readonly number[];
}

/** Figures on how closely the number of engines followed the load. */
export interface ScalingSummary {
  readonly autoscaler: string;
  readonly min: string;
  readonly max: string;
  readonly interval_seconds: number;
  readonly decisions: number;
  readonly gpu_hours: Rate;
  /** GPU-hours with the maximum number of engines for the whole time. */
  readonly gpu_hours_at_max: Rate;
  readonly peak_gpus: number;
  readonly roles: Readonly<Partial<Record<EngineRoleName, RoleScaling>>>;
  readonly events: readonly { readonly at_seconds: number; readonly change: string }[];
  /** Undefined: no cause of a start is known. */
  readonly startups?: StartupSummary;
  /** Points at equal distances. Each is the state at its instant. */
  readonly over_time: {
    readonly interval_seconds: Rate;
    readonly roles: Readonly<Partial<Record<EngineRoleName, ScalingSeries>>>;
  };
}

/**
 * The demand is at least the minimum of the bounds, because no autoscaler can have fewer engines.
 * Supply is the number of ready engines. Accuracy and share of under- and over-provisioning are
 * those of Herbst, Kounev and Reussner, "Elasticity in Cloud Computing" (ICAC 2013), in engines.
 */
export function scalingSummary(run: RunRecord, options: ScalingOptions): ScalingSummary {
  const { endUs, scaling } = run;
  const record = scaling!;
  const history = historyOf(run, options);
  const roles = ROLES.filter((role) => options.most[role] > 0);
  const hours = usToSeconds(endUs) / SECONDS_PER_HOUR;
  const gpus = gpusOver(history, options.gpusPerEngine);
  const startups = startupSummary(record);
  const atMax = total(options.most, options.gpusPerEngine);
  return {
    autoscaler: options.autoscaler,
    min: options.min,
    max: options.max,
    interval_seconds: usToSeconds(options.intervalUs),
    decisions: record.decisions,
    gpu_hours: roundTo(gpus.hours, 6),
    gpu_hours_at_max: roundTo(atMax * hours, 6),
    peak_gpus: gpus.peak,
    roles: Object.fromEntries(roles.map((role) => [role, roleScaling(role, history, options)])),
    events: record.events.map((event) => ({
      at_seconds: usToSeconds(event.atUs),
      change: formatEvent(event),
    })),
    ...(startups && { startups }),
    over_time: {
      interval_seconds: roundTo(usToSeconds(endUs) / POINTS, 6),
      roles: Object.fromEntries(roles.map((role) => [role, series(role, history, options)])),
    },
  };
}

/** A stretch of time in which the states of all engines and the demand stay the same. */
interface Stretch {
  readonly fromUs: Micros;
  readonly untilUs: Micros;
  readonly ready: Counts;
  /** All engines that occupy GPUs. */
  readonly present: Counts;
}

function historyOf({ lives, endUs }: RunRecord, options: ScalingOptions): Stretch[] {
  const states = new Map<number, LifeState>();
  // Ranks, until a stretch ends.
  const present = { ...NONE };
  const ready = { ...NONE };
  const stretches: Stretch[] = [];
  let fromUs = 0;
  const close = (untilUs: Micros): void => {
    if (untilUs > fromUs) {
      const engines = (ranks: Counts): Counts => enginesOf(ranks, options.ranksPerEngine);
      stretches.push({ fromUs, untilUs, ready: engines(ready), present: engines(present) });
    }
    fromUs = Math.max(fromUs, untilUs);
  };
  const { windowUs } = options.demand;
  let boundaryUs = windowUs;
  for (const { atUs, engine, role, state } of lives) {
    for (; boundaryUs <= atUs; boundaryUs += windowUs) close(boundaryUs);
    close(atUs);
    const before = states.get(engine) ?? 'gone';
    states.set(engine, state);
    if (before === 'gone') present[role]++;
    if (state === 'gone') present[role]--;
    if (state === 'ready') ready[role]++;
    if (before === 'ready') ready[role]--;
  }
  for (; boundaryUs < endUs; boundaryUs += windowUs) close(boundaryUs);
  close(endUs);
  return stretches;
}

function enginesOf({ prefill, decode, aggregated }: Counts, ranks: number): Counts {
  return { prefill: prefill / ranks, decode: decode / ranks, aggregated: aggregated / ranks };
}

const NONE: Counts = { prefill: 0, decode: 0, aggregated: 0 };

function gpusOver(history: readonly Stretch[], perEngine: Counts): { hours: number; peak: number } {
  let hours = 0;
  let peak = 0;
  for (const stretch of history) {
    const gpus = total(stretch.present, perEngine);
    hours += gpus * hoursOf(stretch);
    peak = Math.max(peak, gpus);
  }
  return { hours, peak };
}

function total(counts: Counts, perEngine: Counts): number {
  return ROLES.reduce((sum, role) => sum + counts[role] * perEngine[role], 0);
}

function roleScaling(
  role: EngineRoleName,
  history: readonly Stretch[],
  options: ScalingOptions,
): RoleScaling {
  const sums = { all: 0, engines: 0, ready: 0, demand: 0, under: 0, over: 0, short: 0, spare: 0 };
  for (const stretch of history) {
    const hours = hoursOf(stretch);
    const demand = demandAt(role, stretch.fromUs, options);
    const excess = stretch.ready[role] - demand;
    sums.all += hours;
    sums.engines += stretch.present[role] * hours;
    sums.ready += stretch.ready[role] * hours;
    sums.demand += demand * hours;
    if (excess < 0) sums.under += hours;
    if (excess > 0) sums.over += hours;
    sums.short += Math.max(0, -excess) * hours;
    sums.spare += Math.max(0, excess) * hours;
  }
  const share = (part: number): Rate => (sums.all === 0 ? 0 : roundTo(part / sums.all, 6));
  return {
    engine_hours: roundTo(sums.engines, 6),
    ready_mean: share(sums.ready),
    demand_mean: share(sums.demand),
    under_share: share(sums.under),
    over_share: share(sums.over),
    under_engine_hours: roundTo(sums.short, 6),
    over_engine_hours: roundTo(sums.spare, 6),
  };
}

function series(
  role: EngineRoleName,
  history: readonly Stretch[],
  options: ScalingOptions,
): ScalingSeries {
  const endUs = history.at(-1)?.untilUs ?? 0;
  const ready: number[] = [];
  const changing: number[] = [];
  const demand: number[] = [];
  let at = 0;
  for (let point = 0; point < POINTS && history.length > 0; point++) {
    const us = ((point + 0.5) * endUs) / POINTS;
    while (history[at]!.untilUs <= us) at++;
    const stretch = history[at]!;
    ready.push(stretch.ready[role]);
    changing.push(stretch.present[role] - stretch.ready[role]);
    demand.push(demandAt(role, stretch.fromUs, options));
  }
  return { ready, changing, demand };
}

function demandAt(role: EngineRoleName, us: Micros, { demand, fewest }: ScalingOptions): number {
  return Math.max(fewest[role], demand.ofWindow(Math.floor(us / demand.windowUs))[role]);
}

function hoursOf({ fromUs, untilUs }: Stretch): number {
  return usToSeconds(untilUs - fromUs) / SECONDS_PER_HOUR;
}

/** A change as `changes` shows it: `+2D`, `-1P`, `1D>P`. */
function formatEvent({ kind, count, role, to }: ScaleEvent): string {
  const engines = `${count}${ROLE_LETTERS[role]}`;
  if (to !== undefined) return `${engines}>${ROLE_LETTERS[to]}`;
  return `${kind === 'join' ? '+' : '-'}${engines}`;
}
