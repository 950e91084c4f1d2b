import { goodness, type RequestLog, type RunRecord, type Slo } from '@baton/analysis';
import { type ClusterScenario, simulate } from '@baton/cluster';
import { meanRatePerSecond, scaleRate } from '@baton/workload';

/** What a cluster has to keep. */
export interface SloTarget {
  /** Objectives of each request. */
  readonly slo: Slo;
  /** Share of all requests, 0..1, that must meet all of them; rejected and refused ones do not. */
  readonly attainment: number;
}

/**
 * The run of the scenario with its arrivals scaled to a mean rate (of conversations, where there
 * are turns), in requests per second. Undefined when the target is lost: the run ends with the
 * request that decides it.
 */
export function runWithin(
  scenario: ClusterScenario,
  ratePerSecond: number,
  target: SloTarget,
): RunRecord | undefined {
  const misses = new MissCount(target, scenario.workload.count);
  const run = simulate(atRate(scenario, ratePerSecond), {
    onEnd: (row, log) => misses.admits(row, log),
  });
  return misses.isLost || misses.ended < scenario.workload.count ? undefined : run;
}

/** The scenario with its arrivals scaled to a mean rate in requests per second. */
export function atRate(scenario: ClusterScenario, ratePerSecond: number): ClusterScenario {
  const { workload } = scenario;
  const factor = ratePerSecond / meanRatePerSecond(workload);
  return { ...scenario, workload: scaleRate(workload, factor) };
}

/** Counts the requests that miss their objectives, up to one more than the target allows. */
class MissCount {
  private left: number;
  private isGood: ((row: number) => boolean) | undefined;
  ended = 0;

  constructor(
    private readonly target: SloTarget,
    count: number,
  ) {
    this.left = missesAllowed(target.attainment, count);
  }

  get isLost(): boolean {
    return this.left < 0;
  }

  /** Takes a request that has ended; false when the target is lost with it. */
  admits(row: number, log: RequestLog): boolean {
    this.isGood ??= goodness(log, this.target.slo);
    this.ended++;
    if (!this.isGood(row)) this.left--;
    return !this.isLost;
  }
}

/** Of `count` requests, so many may miss. Rounding errors of the share do not cost a request. */
export function missesAllowed(attainment: number, count: number): number {
  return count - Math.ceil(attainment * count - 1e-9);
}
