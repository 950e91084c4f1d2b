import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { RequestLog } from '@baton/analysis';
import { type ClusterScenario, simulate, scenarioOf } from '@baton/simulation';
import { defaultConfig } from '@baton/config';
import { budgetWorkload } from '@baton/workload';
import { ControlKernel } from './control/kernel';
import { ControlRows } from './control/rows';

const ROOT = join(__dirname, '..', '..', '..');
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
const MOONCAKE = [
  'replay',
  ...['--trace', 'mooncake-conversation', '--topology', '8P8D', '--model', 'llama-3.1-70b'],
  ...['--gpu', 'a100', '--tp', '8', '--json'],
];

interface Speed {
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
interface Control {
  readonly steps: number;
  readonly events: number;
  readonly mean_end_later_ms: number;
  readonly user_cpu_us_per_request: number;
}

/**
 * Measures the replay budgets: a million requests on one thread beside a control without KV and a
 * run of the same core without leaps, and a whole Mooncake trace from the command line.
 */
function main(): void {
  const count = process.argv.includes('--quick') ? 100_000 : 1_000_000;
  const { speed: synthetic, control } = besideControl(count);
  const result = {
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`,
    synthetic,
    control_without_kv: control,
    times_slower_than_control: synthetic.user_cpu_us_per_request / control.user_cpu_us_per_request,
    synthetic_no_leap: measureSpeed(scenario(count, false)).speed,
    peak_memory_mib: Math.round(process.resourceUsage().maxRSS / 1024),
    mooncake_conversation_seconds: [1, 2, 3].map(() => mooncakeSeconds(MOONCAKE)),
    mooncake_conversation_no_leap_seconds: mooncakeSeconds([...MOONCAKE, '--no-leap']),
    budgets: {
      synthetic: 'at most 2.5 times slower than the control, <= 1,024 MiB',
      mooncake_conversation_seconds: '<= 1, start-up included',
    },
  };
  const json = `${JSON.stringify(result, null, 2)}\n`;
  process.stdout.write(json);
  if (process.argv.includes('--save')) writeFileSync(join(ROOT, 'bench/results/replay.json'), json);
}

function scenario(count: number, leap: boolean): ClusterScenario {
  const workload = budgetWorkload({ ratePerSecond: RATE_PER_SECOND, count, seed: 1 });
  return scenarioOf(CONFIG, workload, { leap });
}

/** The budget run and its control, in one process. */
function besideControl(count: number): { speed: Speed; control: Control } {
  const given = scenario(count, true);
  const { speed, log } = measureSpeed(given);
  return { speed, control: measureControl(given, log) };
}

function measureControl(given: ClusterScenario, log: RequestLog): Control {
  const rows = new ControlRows(given.workload, log);
  const kernel = new ControlKernel(given, rows);
  const before = process.cpuUsage();
  kernel.run();
  const { user } = process.cpuUsage(before);
  const laterUs = rows.finishUs.reduce((sum, endUs, row) => sum + endUs - log.finishUs[row]!, 0);
  return {
    steps: kernel.steps,
    events: kernel.events,
    mean_end_later_ms: laterUs / rows.count / 1000,
    user_cpu_us_per_request: user / rows.count,
  };
}

function measureSpeed(given: ClusterScenario): { speed: Speed; log: RequestLog } {
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

/** From the start of the process to its end. */
function mooncakeSeconds(args: readonly string[]): number {
  const startMs = performance.now();
  execFileSync(process.execPath, [join(ROOT, 'bin', 'baton'), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 26,
  });
  return (performance.now() - startMs) / 1000;
}

main();
