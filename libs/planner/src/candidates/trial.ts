import { sloTest, type RequestLog, type RunRecord, type Slo } from '@baton/analysis';
import { classOptions, type ClusterScenario, type RunObserver, simulate } from '@baton/simulation';
import { meanRatePerSecond, scaleRate } from '@baton/workload';

/** The target of a cluster. */
export interface SloTarget {
  /** Objectives of each request. */
  readonly slo: Slo;
  /**
   * Share of all requests, 0..1, that must meet all of them, and of each SLO class that must meet
   * the objectives of the class; rejected and refused requests do not.
   */
  readonly attainment: number;
}

/**
 * The run of the scenario. Undefined when the target is missed: the run ends with the request that
 * decides it.
 */
export function runWithin(
  scenario: ClusterScenario,
  { policyWatch, ...target }: SloTarget & Pick<RunObserver, 'policyWatch'>,
): RunRecord | undefined {
  const misses = new MissCount(scenario, target);
  const run = simulate(scenario, {
    onEnd: (row, log) => misses.admits(row, log),
    policyWatch,
  });
  return misses.isLost || misses.ended < scenario.workload.count ? undefined : run;
}

/**
 * The scenario with its arrivals scaled to a mean rate in requests per second, of conversations
 * where there are turns.
 */
export function atRate(scenario: ClusterScenario, ratePerSecond: number): ClusterScenario {
  const { workload } = scenario;
  const factor = ratePerSecond / meanRatePerSecond(workload);
  return { ...scenario, workload: scaleRate(workload, factor) };
}

/** Requests that are judged together, by the same objectives. */
interface Group {
  readonly slo: Slo;
  readonly has: (row: number) => boolean;
  /** Misses that the target still allows. */
  left: number;
  /** Unset until the first request ends. */
  isGood?: (row: number) => boolean;
}

/** Counts the requests that miss their objectives, up to one more than the target allows. */
class MissCount {
  private readonly groups: readonly Group[];
  isLost = false;
  ended = 0;

  constructor(scenario: ClusterScenario, target: SloTarget) {
    this.groups = groupsOf(scenario, target);
  }

  /** Counts an ended request; false when the target is missed with it. */
  admits(row: number, log: RequestLog): boolean {
    this.ended++;
    for (const group of this.groups) {
      group.isGood ??= sloTest(log, group.slo);
      if (group.has(row) && !group.isGood(row) && --group.left < 0) this.isLost = true;
    }
    return !this.isLost;
  }
}

/** All requests, and those of each SLO class. */
function groupsOf(scenario: ClusterScenario, { slo, attainment }: SloTarget): Group[] {
  const { count } = scenario.workload;
  const { classes, classOf } = classOptions(scenario) ?? { classes: [], classOf: () => '' };
  const counts = new Map<string, number>();
  if (classes.length > 0) {
    for (let row = 0; row < count; row++) {
      const name = classOf(row);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [
    { slo, has: () => true, left: missesAllowed(attainment, count) },
    ...classes.map(({ name, slo: ofClass }) => ({
      slo: ofClass,
      has: (row: number) => classOf(row) === name,
      left: missesAllowed(attainment, counts.get(name) ?? 0),
    })),
  ];
}

/**
 * The number of `count` requests that may miss. Rounding errors of the share do not cost a request.
 */
export function missesAllowed(attainment: number, count: number): number {
  return count - Math.ceil(attainment * count - 1e-9);
}
