import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepResult, keptResult, originNow, ROOT } from '../kept';
import { measuredAlone } from './alone';
import { barsOf, putTable, type ReplayResult, tableOf } from './bars';
import { type CommandRun, replayCommand } from './command';

const HELP = `npm run bench:replay -- [flags]

Measures the budgets of a replay, some five minutes, and prints one JSON document with the kept one
beside it. Runs of different kinds alternate; each figure is the best of its runs.

  --quick           a tenth of the requests, one run of each kind; such a result must not be kept
  --dynosim PYTHON  also runs DynoSim, with the Python of an environment that has ai-dynamo
  --memory          also replays ten million requests, some minutes more
  --save            keeps the result in bench/results/replay.json and in docs/benchmarks.md
`;

const MILLION = 1_000_000;
const MOST_WAITING = ['--max-waiting-requests', `${10 * MILLION}`];
const SYNCHRONOUS = ['--no-async-scheduling', '--frontend', 'none'];
const TRACE = join(ROOT, 'data', 'traces', 'mooncake_conversation_trace.jsonl');
const MOONCAKE = [
  ...['--trace', TRACE, '--topology', '8A', '--model', 'llama-3.1-8b', '--gpu', 'h100'],
  ...['--placement', 'round-robin', ...MOST_WAITING],
];
const MOONCAKE_RUNS = 3;
const SIZES = ['4P8D', '128P256D'] as const;

function main(): void {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      dynosim: { type: 'string' },
      memory: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const result = measure(values);
  const bars = barsOf(result);
  const kept = keptResult('replay');
  process.stdout.write(`${JSON.stringify({ ...originNow(), ...result, bars, kept }, null, 2)}\n`);
  process.stderr.write(tableOf(bars));
  if (!values.save) return;
  keepResult('replay', { ...result, bars });
  putTable(bars);
}

interface Wanted {
  readonly quick: boolean;
  readonly memory: boolean;
  readonly dynosim?: string | undefined;
}

function measure({ quick, memory, dynosim }: Wanted): ReplayResult {
  const requests = quick ? MILLION / 10 : MILLION;
  const rounds = quick ? 1 : 2;
  const counts = said('counts', () => measuredAlone('counts', 4_000));
  return {
    quick,
    requests,
    ...counts,
    ...randomRuns(requests, rounds),
    ...budgetRuns(requests, rounds),
    ...sizeRuns(requests / 5, rounds),
    ...mooncakeRuns(dynosim),
    ten_million_peak_mib: memory
      ? said('10 million requests', () => randomRun(10 * MILLION).peakMib)
      : null,
  };
}

function randomRuns(requests: number, rounds: number) {
  const runs = alternating(rounds, {
    defaults: () => randomRun(requests).userUs / requests,
    synchronous: () => randomRun(requests, SYNCHRONOUS).userUs / requests,
  });
  return {
    defaults_user_us_per_request: runs.defaults,
    synchronous_user_us_per_request: runs.synchronous,
  };
}

function randomRun(requests: number, flags: readonly string[] = []): CommandRun {
  const lengths = ['--random-input-len', '512', '--random-output-len', '128'];
  const load = ['--dataset', 'random', ...lengths, '--num-prompts', `${requests}`];
  const rate = ['--request-rate', '60', ...MOST_WAITING];
  return replayCommand(['--topology', '4P8D', ...load, ...rate, ...flags]);
}

function budgetRuns(requests: number, rounds: number) {
  const runs = alternating(rounds, {
    budget: () => measuredAlone('budget', requests),
    synchronous: () => measuredAlone('budget', requests, 'synchronous'),
  });
  const own = runs.budget.map(({ speed }) => speed.user_cpu_us_per_request);
  const control = runs.budget.map((run) => run.control.user_cpu_us_per_request);
  return {
    budget_user_us_per_request: own,
    budget_control_user_us_per_request: control,
    budget_times_control: own.map((us, run) => us / control[run]!),
    budget_synchronous_user_us_per_request: runs.synchronous.map(
      ({ speed }) => speed.user_cpu_us_per_request,
    ),
  };
}

function sizeRuns(requests: number, rounds: number) {
  const [few, many] = SIZES;
  const runs = alternating(rounds + 1, {
    [few]: () => measuredAlone('cluster', requests, few),
    [many]: () => measuredAlone('cluster', requests, many),
  });
  return {
    user_us_per_request_by_size: runs,
    speed_of_384_engines_beside_12: Math.min(...runs[few]) / Math.min(...runs[many]),
  };
}

function mooncakeRuns(python: string | undefined) {
  const isCompared = python !== undefined;
  const { mooncake, dynosim = [] } = alternating<'mooncake' | 'dynosim', number>(MOONCAKE_RUNS, {
    mooncake: () => replayCommand(MOONCAKE).wallSeconds,
    ...(isCompared && { dynosim: () => dynosimSeconds(python) }),
  });
  return {
    mooncake_seconds: mooncake,
    dynosim_seconds: isCompared ? dynosim : null,
    times_as_fast_as_dynosim: isCompared ? Math.min(...dynosim) / Math.min(...mooncake) : null,
  };
}

/** DynoSim on one thread, with the workload and the workers of `bench/peers/virtual.mjs`. */
function dynosimSeconds(python: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'dynosim-'));
  const report = ['--report-json', join(folder, 'report.json')];
  const args = ['-m', 'dynamo.replay', TRACE, '--replay-mode', 'offline', ...report];
  const startMs = performance.now();
  execFileSync(python, [...args, '--num-workers', '8'], {
    cwd: folder,
    env: { ...process.env, RAYON_NUM_THREADS: '1', TOKIO_WORKER_THREADS: '1', HF_HUB_OFFLINE: '1' },
    stdio: 'ignore',
  });
  const seconds = (performance.now() - startMs) / 1_000;
  rmSync(folder, { recursive: true });
  return seconds;
}

/** Runs each of the programs once a round. */
function alternating<K extends string, T>(
  rounds: number,
  programs: Readonly<Partial<Record<K, () => T>>>,
): Record<K, T[]> {
  const all = Object.entries<(() => T) | undefined>(programs);
  const runs = all.map(([name, run]) => [name, run!, [] as T[]] as const);
  for (let round = 0; round < rounds; round++) {
    for (const [name, run, results] of runs) results.push(said(name, run));
  }
  return Object.fromEntries(runs.map(([name, , results]) => [name, results])) as Record<K, T[]>;
}

function said<T>(what: string, measured: () => T): T {
  process.stderr.write(`${what} ...\n`);
  return measured();
}

main();
