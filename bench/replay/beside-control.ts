import type { RequestLog } from '@baton/analysis';
import { type ClusterScenario, simulate, scenarioOf } from '@baton/simulation';
import { defaultConfig } from '@baton/config';
import { budgetWorkload } from '@baton/workload';
import { ControlKernel } from './control/kernel';
import { ControlRows } from './control/rows';

/**
 * 85 % of the capacity of four such prefill engines for this workload. Prefill saturates first in
 * this cluster.
 */
const RATE_PER_SECOND = 39.5;
const CONFIG = defaultConfig({
  topology: '4P8D',
  model: 'llama-3.1-70b',
  gpu: 'a100',
  tensorParallelSize: 8,
  maxWaitingRequests: 10_000_000,
});
export interface Speed {
  readonly requests: number;
  readonly completed: number;
  readonly steps: number;
  readonly events: number;
  readonly requests_per_wall_second: number;
  readonly steps_per_wall_second: number;
  readonly simulated_seconds_per_wall_second: number;
  readonly user_cpu_us_per_request: number;
  readonly busiest_prefill_engine: number;
}

/** The control beside the run that it is compared with. */
export interface Control {
  readonly steps: number;
  readonly events: number;
  readonly mean_end_later_ms: number;
  readonly user_cpu_us_per_request: number;
}

export function budgetScenario(count: number, isSynchronous = false): ClusterScenario {
  const workload = budgetWorkload({ ratePerSecond: RATE_PER_SECOND, count, seed: 1 });
  const config = { ...CONFIG, asyncScheduling: !isSynchronous };
  return scenarioOf(config, workload);
}

/** The budget run and its control, in one process. */
export function besideControl(
  count: number,
  isSynchronous = false,
): { speed: Speed; control: Control } {
  const given = budgetScenario(count, isSynchronous);
  const { speed, log } = speedOf(given);
  return { speed, control: controlOf(given, log) };
}

function controlOf(given: ClusterScenario, log: RequestLog): Control {
  const rows = new ControlRows(given.workload, log);
  const kernel = new ControlKernel(given, rows);
  const before = process.cpuUsage();
  kernel.run();
  const { user } = process.cpuUsage(before);
  const laterUs = rows.finishUs.reduce((sum, endUs, row) => sum + endUs - log.finishUs.at(row), 0);
  return {
    steps: kernel.steps,
    events: kernel.events,
    mean_end_later_ms: laterUs / rows.count / 1000,
    user_cpu_us_per_request: user / rows.count,
  };
}

export function speedOf(given: ClusterScenario): { speed: Speed; log: RequestLog } {
  const { count } = given.workload;
  const before = process.cpuUsage();
  const startMs = performance.now();
  const run = simulate(given);
  const seconds = (performance.now() - startMs) / 1000;
  const { user } = process.cpuUsage(before);
  const busy = run.engines.filter(({ role }) => role === 'prefill').map((e) => e.busyUs / e.upUs);
  const speed = {
    requests: count,
    completed: run.log.outcome.filter((code) => code === 1).length,
    steps: run.steps,
    events: run.events,
    requests_per_wall_second: Math.round(count / seconds),
    steps_per_wall_second: Math.round(run.steps / seconds),
    simulated_seconds_per_wall_second: Math.round(run.endUs / 1e6 / seconds),
    user_cpu_us_per_request: user / count,
    busiest_prefill_engine: Math.max(...busy),
  };
  return { speed, log: run.log };
}
