import { setTimeout as pause } from 'node:timers/promises';
import { NEVER, type RunRecord } from '@baton/analysis';
import { simulate } from '@baton/cluster';
import { defaultConfig } from '@baton/config';
import { RandomStream } from '@baton/kernel';
import { scenarioOf } from '@baton/scenario';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import { BenchCluster } from './cluster';
import { histogramQuantile } from './exposition';
import { openStream } from './raw-client';

const TOPOLOGY = '2P2D';
const MEAN_PROMPT_TOKENS = 1_024;
const OUTPUT_TOKENS = 64;
const MOST_PROMPT_TOKENS = 8_000;
/** About 80 % of the capacity of two prefill engines of the default model and GPU. */
const REQUESTS_PER_SECOND = 58;

/** The latencies of one run's requests, ms. */
interface Latencies {
  readonly ttft: Latency;
  readonly itl: Latency;
}

interface Latency {
  readonly mean: number;
  readonly p99: number;
}

/** One run on both clocks; deviations are live over virtual, minus 1. */
export interface Agreement {
  readonly topology: string;
  readonly placement: string;
  readonly requests: number;
  readonly requests_per_second: number;
  readonly step_lag_p99_ms: number;
  readonly is_void: boolean;
  readonly live: Latencies;
  readonly virtual: Latencies;
  readonly deviation: Readonly<Record<'ttft_mean' | 'ttft_p99' | 'itl_mean' | 'itl_p99', number>>;
}

interface Seen {
  readonly sentMs: number;
  readonly tokenMs: number[];
}

/**
 * The same requests, at the same instants, on a real cluster under contention and on the virtual
 * clock. A run counts only while the live clock kept up: its steps must have ended less than 5 ms
 * late, at the 99th percentile. With `round-robin` the router chooses, as it does on the virtual
 * clock; with `pull` the broker's order decides which engine takes a job, and no clock can predict
 * that.
 */
export async function liveAgainstVirtual(
  requests: number,
  placement: 'round-robin' | 'pull',
): Promise<Agreement> {
  const cluster = await BenchCluster.start(TOPOLOGY, ['--placement', placement]);
  const prompts = promptLengths(requests);
  const seen = await drive(cluster, prompts);
  const metrics = await (await fetch(`http://127.0.0.1:${cluster.port}/metrics`)).text();
  await cluster.stop();
  const live = latenciesOf(seen);
  const virtual = replayed(seen, prompts, placement);
  const lagMs = 1000 * histogramQuantile(metrics, 'baton:step_lag_seconds', 0.99);
  return {
    ...{ topology: TOPOLOGY, placement, requests, requests_per_second: REQUESTS_PER_SECOND },
    step_lag_p99_ms: lagMs,
    is_void: lagMs >= 5,
    ...{ live, virtual },
    deviation: {
      ttft_mean: live.ttft.mean / virtual.ttft.mean - 1,
      ttft_p99: live.ttft.p99 / virtual.ttft.p99 - 1,
      itl_mean: live.itl.mean / virtual.itl.mean - 1,
      itl_p99: live.itl.p99 / virtual.itl.p99 - 1,
    },
  };
}

function promptLengths(requests: number): number[] {
  const random = RandomStream.root(1).stream('prompts');
  return Array.from({ length: requests }, () => {
    const tokens = Math.ceil(random.lognormal(MEAN_PROMPT_TOKENS, 0.5));
    return Math.min(MOST_PROMPT_TOKENS, tokens);
  });
}

/**
 * Sends every request at its instant of a Poisson process, whether or not earlier ones have been
 * answered.
 */
async function drive(cluster: BenchCluster, prompts: readonly number[]): Promise<Seen[]> {
  const random = RandomStream.root(1).stream('arrivals');
  const startMs = performance.now();
  let dueMs = 0;
  const ended: Promise<Seen>[] = [];
  for (const [row, tokens] of prompts.entries()) {
    dueMs += random.exponential(1000 / REQUESTS_PER_SECOND);
    const waitMs = startMs + dueMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    ended.push(request(cluster, { row, tokens, startMs }));
  }
  return Promise.all(ended);
}

function request(
  cluster: BenchCluster,
  { row, tokens, startMs }: { row: number; tokens: number; startMs: number },
): Promise<Seen> {
  // No two prompts share a prefix, so the cache plays no part.
  const prompt = Array.from(
    { length: tokens },
    (_none, i) => 1000 + ((row * 7919 + i * 31) % 90_000),
  );
  const body = { prompt, max_tokens: OUTPUT_TOKENS, ignore_eos: true, stream: true };
  const tokenMs: number[] = [];
  return new Promise((resolve, reject) => {
    const sentMs = performance.now() - startMs;
    const listener = {
      onToken: (_index: number, atMs: number): void => void tokenMs.push(atMs - startMs),
      onEnd: (): void => resolve({ sentMs, tokenMs }),
    };
    openStream({ host: '127.0.0.1', port: cluster.port }, body, listener).catch(reject);
  });
}

function latenciesOf(seen: readonly Seen[]): Latencies {
  const gaps = seen.flatMap(({ tokenMs }) => tokenMs.slice(1).map((ms, i) => ms - tokenMs[i]!));
  const ttft = seen.map(({ sentMs, tokenMs }) => tokenMs[0]! - sentMs);
  return { ttft: latencyOf(ttft), itl: latencyOf(gaps) };
}

function replayed(
  seen: readonly Seen[],
  prompts: readonly number[],
  placement: 'round-robin' | 'pull',
): Latencies {
  const run = simulate(
    scenarioOf(defaultConfig({ topology: TOPOLOGY, placement }), workloadOf(seen, prompts)),
  );
  return {
    ttft: latencyOf(ttftsOf(run)),
    itl: { mean: run.itl.meanUs / 1000, p99: run.itl.quantileUs(0.99) / 1000 },
  };
}

/** The requests as actually sent. */
function workloadOf(seen: readonly Seen[], prompts: readonly number[]): Workload {
  const builder = new WorkloadBuilder();
  for (const [row, { sentMs }] of seen.entries()) {
    const arrivalUs = Math.round(sentMs * 1000);
    builder.add({ arrivalUs, promptTokens: prompts[row]!, outputTokens: OUTPUT_TOKENS });
  }
  return builder.build();
}

function ttftsOf({ log }: RunRecord): number[] {
  return Array.from(log.firstTokenUs)
    .map((us, row) => (us === NEVER ? NaN : (us - log.arrivalUs[row]!) / 1000))
    .filter((ms) => !Number.isNaN(ms));
}

function latencyOf(values: readonly number[]): Latency {
  const sorted = Float64Array.from(values).sort();
  const mean = sorted.reduce((sum, one) => sum + one, 0) / sorted.length;
  return { mean, p99: sorted[Math.ceil(0.99 * sorted.length) - 1] ?? NaN };
}
