import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NEVER, type RunRecord } from '@baton/analysis';
import { simulate, scenarioOf } from '@baton/simulation';
import { defaultConfig } from '@baton/config';
import { mean, RandomStream } from '@baton/kernel';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import { BenchCluster } from './cluster';
import { histogramQuantile } from './exposition';
import { completionRequest, openStream, type RawTarget } from './raw-client';

const TOPOLOGY = '2P2D';
const MEAN_PROMPT_TOKENS = 1_024;
const OUTPUT_TOKENS = 64;
const MOST_PROMPT_TOKENS = 8_000;
/** Requests before the measured ones, until V8 has compiled what they run. */
const WARM_UP_REQUESTS = 200;
/** About 80 % of the capacity of two prefill engines of the default model and GPU. */
const REQUESTS_PER_SECOND = 58;

/** The latencies of one run's requests, simulated ms. */
interface Latencies {
  readonly ttft: Latency;
  readonly itl: Latency;
  /** Share of the requests whose prompt went to the same engine as the previous one. */
  readonly double_takes: number;
}

interface Latency {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
}

/** One run on both clocks. */
export interface Agreement extends Omit<ComparedRun, 'apiProcesses'> {
  readonly topology: string;
  readonly api_processes: string;
  readonly requests_per_second: number;
  /** Wall ms. */
  readonly step_lag_p99_ms: number;
  readonly is_void: boolean;
  readonly live: Latencies;
  readonly virtual: Latencies;
}

export interface ComparedRun {
  readonly requests: number;
  readonly placement: 'round-robin' | 'pull';
  /** Simulated seconds per wall second. Below 1, a busy machine is less late. */
  readonly speedup: number;
  /** As `baton up --api-processes`. */
  readonly apiProcesses: string;
}

interface Seen {
  readonly sentMs: number;
  readonly tokenMs: number[];
}

/**
 * Sends the same requests, at the same instants, to a real cluster under contention and to the
 * virtual clock. The cluster has answered some requests before. A run is valid only when the live
 * clock kept up: its steps ended less than 5 ms late, at the 99th percentile.
 */
export async function liveAgainstVirtual(requested: ComparedRun): Promise<Agreement> {
  const { requests, placement, speedup, apiProcesses } = requested;
  const folder = mkdtempSync(join(tmpdir(), 'baton-live-virtual-'));
  const recording = join(folder, 'run.jsonl');
  const clock = ['--speedup', String(speedup), '--api-processes', apiProcesses];
  const flags = ['--placement', placement, ...clock, '--record', recording];
  const cluster = await BenchCluster.start(TOPOLOGY, flags);
  const prompts = promptLengths(requests);
  await drive(cluster, promptLengths(WARM_UP_REQUESTS), speedup, requests);
  const seen = await drive(cluster, prompts, speedup);
  const metrics = await (await fetch(`http://127.0.0.1:${cluster.port}/metrics`)).text();
  await cluster.stop();
  const live = { ...latenciesOf(seen, speedup), double_takes: repeats(readEngines(recording)) };
  rmSync(folder, { recursive: true });
  const virtual = replayed(seen, prompts, requested);
  const lagMs = 1000 * histogramQuantile(metrics, 'baton:step_lag_seconds', 0.99);
  return {
    topology: TOPOLOGY,
    requests,
    placement,
    speedup,
    api_processes: apiProcesses,
    requests_per_second: REQUESTS_PER_SECOND,
    step_lag_p99_ms: lagMs,
    is_void: lagMs >= 5,
    live,
    virtual,
  };
}

function promptLengths(requests: number): number[] {
  const random = RandomStream.root(1).stream('prompts');
  return Array.from({ length: requests }, () => {
    const tokens = Math.ceil(random.lognormal(MEAN_PROMPT_TOKENS, 0.5));
    return Math.min(MOST_PROMPT_TOKENS, tokens);
  });
}

/** Sends every request at its instant of a Poisson process, independently of earlier answers. */
async function drive(
  cluster: BenchCluster,
  prompts: readonly number[],
  speedup: number,
  firstRow = 0,
): Promise<Seen[]> {
  const random = RandomStream.root(1).stream('arrivals');
  const target = { host: '127.0.0.1', port: cluster.port };
  const bodyAt = (tokens: number, i: number): object => bodyOf(firstRow + i, tokens);
  const bodies = prompts.map((tokens, i) => completionRequest(target, bodyAt(tokens, i)));
  const startMs = performance.now();
  let dueMs = 0;
  const ended: Promise<Seen>[] = [];
  for (const body of bodies) {
    dueMs += random.exponential(1000 / (REQUESTS_PER_SECOND * speedup));
    const waitMs = startMs + dueMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    ended.push(request(target, body, startMs));
  }
  return Promise.all(ended);
}

/** No two prompts share a prefix, so the cache plays no part. */
function bodyOf(row: number, tokens: number): object {
  const tokenOf = (i: number): number => 1000 + ((row * 7919 + i * 31) % 90_000);
  const prompt = Array.from({ length: tokens }, (_none, i) => tokenOf(i));
  return { prompt, max_tokens: OUTPUT_TOKENS, ignore_eos: true, stream: true };
}

function request(target: RawTarget, body: string, startMs: number): Promise<Seen> {
  const tokenMs: number[] = [];
  return new Promise((resolve, reject) => {
    const sentMs = performance.now() - startMs;
    const listener = {
      // The last event has the finish reason and no token.
      onToken: (index: number, atMs: number): void => {
        if (index < OUTPUT_TOKENS) tokenMs.push(atMs - startMs);
      },
      onEnd: (): void => resolve({ sentMs, tokenMs }),
    };
    openStream(target, body, listener).catch(reject);
  });
}

function latenciesOf(seen: readonly Seen[], speedup: number): Omit<Latencies, 'double_takes'> {
  const gaps = seen.flatMap(({ tokenMs }) => tokenMs.slice(1).map((ms, i) => ms - tokenMs[i]!));
  const ttft = seen.map(({ sentMs, tokenMs }) => tokenMs[0]! - sentMs);
  const simulated = (wall: readonly number[]): Latency => latencyOf(wall.map((ms) => ms * speedup));
  return { ttft: simulated(ttft), itl: simulated(gaps) };
}

/** The prefill engines of the measured requests, in the order in which these arrived. */
function readEngines(recording: string): string[] {
  const [, ...lines] = readFileSync(recording, 'utf8').trim().split('\n');
  const requests = lines.map((line) => JSON.parse(line) as Recorded);
  requests.sort((a, b) => a.arrival_us - b.arrival_us);
  return requests.slice(WARM_UP_REQUESTS).map(({ measured }) => measured.prefill_engine);
}

interface Recorded {
  readonly arrival_us: number;
  readonly measured: { readonly prefill_engine: string };
}

/** Share of the values that equal the previous one. */
function repeats(values: readonly unknown[]): number {
  return values.filter((value, i) => i > 0 && value === values[i - 1]).length / (values.length - 1);
}

function replayed(
  seen: readonly Seen[],
  prompts: readonly number[],
  { placement, speedup }: ComparedRun,
): Latencies {
  const config = defaultConfig({ topology: TOPOLOGY, placement });
  const { log, itl } = simulate(scenarioOf(config, workloadOf(seen, prompts, speedup)));
  const gapMs = (quantile: number): number => itl.quantileUs(quantile) / 1000;
  return {
    ttft: latencyOf(ttftsOf(log)),
    itl: { mean: itl.meanUs / 1000, p50: gapMs(0.5), p99: gapMs(0.99) },
    double_takes: repeats([...log.prefillEngine]),
  };
}

/** The requests as actually sent. */
function workloadOf(seen: readonly Seen[], prompts: readonly number[], speedup: number): Workload {
  const builder = new WorkloadBuilder();
  for (const [row, { sentMs }] of seen.entries()) {
    const arrivalUs = Math.round(sentMs * 1000 * speedup);
    builder.add({ arrivalUs, promptTokens: prompts[row]!, outputTokens: OUTPUT_TOKENS });
  }
  return builder.build();
}

function ttftsOf(log: RunRecord['log']): number[] {
  return Array.from(log.firstTokenUs)
    .map((us, row) => (us === NEVER ? NaN : (us - log.arrivalUs.at(row)) / 1000))
    .filter((ms) => !Number.isNaN(ms));
}

function latencyOf(values: readonly number[]): Latency {
  const sorted = Float64Array.from(values).sort();
  const at = (quantile: number): number => sorted[Math.ceil(quantile * sorted.length) - 1] ?? NaN;
  return { mean: mean(sorted), p50: at(0.5), p99: at(0.99) };
}
