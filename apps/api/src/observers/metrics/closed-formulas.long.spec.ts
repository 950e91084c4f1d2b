import type { BatonConfig } from '@baton/config';
import { RandomStream } from '@baton/kernel';
import { afterEach, describe, expect, it } from 'vitest';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { type Family, parseExposition, sumOf } from '../../../test/exposition';
import { until } from '../../../test/until';

const BLOCK = 16;
/**
 * A step that is longer than the requests of one turn take to arrive, so that no prompt misses its
 * predecessors' cache.
 */
const CONFIG: Partial<BatonConfig> = { interTokenLatency: 2, vllmVersion: '0.33' };

interface Load {
  readonly requests: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

let cluster: ClusterFixture;
let page: ReadonlyMap<string, Family>;

afterEach(() => cluster.stop());

async function scrape(): Promise<void> {
  page = parseExposition(await (await fetch(`${cluster.api.url}/metrics`)).text());
}

const of = (name: string, labels: Record<string, string> = {}): number => sumOf(page, name, labels);
const atStage = (name: string, stage: string): number =>
  cluster.workers
    .get(stage as 'prefill')!
    .hosts.reduce((sum, { index }) => sum + of(name, { engine: String(index) }), 0);

/** Prompts that have no block in common. */
function prompt(i: number, tokens: number): number[] {
  return Array.from({ length: tokens }, (_none, k) => 1_000 + ((i * 977 + k * 31) % 90_000));
}

async function ask(body: object): Promise<void> {
  const answer = await cluster.post({ ignore_eos: true, ...body });
  expect(answer.status).toBe(200);
  await answer.text();
}

/** Sends one request at a time, as the vLLM oracle does: a step has the tokens of one request. */
async function sendOneByOne({ requests, promptTokens, outputTokens }: Load): Promise<void> {
  for (let i = 0; i < requests; i += 1) {
    await ask({ prompt: prompt(i, promptTokens), max_tokens: outputTokens });
  }
}

/** For what happens after the answer. */
async function untilCounted(name: string, value: number): Promise<void> {
  await until(async () => {
    await scrape();
    return of(name) === value;
  });
}

function expectRequestFamilies({ requests: n, promptTokens: p, outputTokens: m }: Load): void {
  const histograms: Record<string, [count: number, sum?: number]> = {
    'vllm:time_to_first_token_seconds': [n],
    'vllm:inter_token_latency_seconds': [n * (m - 1)],
    'vllm:request_time_per_output_token_seconds': [n],
    'vllm:e2e_request_latency_seconds': [n],
    'vllm:request_queue_time_seconds': [n],
    'vllm:request_inference_time_seconds': [n],
    'vllm:request_prefill_time_seconds': [n],
    'vllm:request_decode_time_seconds': [n],
    'vllm:request_prompt_tokens': [n, n * p],
    'vllm:request_generation_tokens': [n, n * m],
    'vllm:request_max_num_generation_tokens': [n, n * m],
    'vllm:request_params_max_tokens': [n, n * m],
    'vllm:request_params_n': [n, n],
  };
  for (const [name, [count, sum]] of Object.entries(histograms)) {
    expect(of(`${name}_count`), name).toBe(count);
    if (sum !== undefined) expect(of(`${name}_sum`), name).toBe(sum);
  }
  expect(of('vllm:request_num_preemptions_count')).toBe(n);
  expect(of('vllm:request_num_preemptions_sum')).toBe(0);
  expect(of('vllm:request_success_total')).toBe(n);
  expect(of('vllm:request_success_total', { finished_reason: 'length' })).toBe(n);
}

function expectConserved(): void {
  const bySource = (source: string): number => of('vllm:prompt_tokens_by_source_total', { source });
  const cached = bySource('local_cache_hit') + bySource('external_kv_transfer');
  expect(of('vllm:prompt_tokens_total')).toBe(bySource('local_compute') + cached);
  expect(of('vllm:prompt_tokens_cached_total')).toBe(cached);
  expect(of('vllm:prompt_tokens_cached_by_source_total')).toBe(
    of('vllm:prefix_cache_hits_total') + of('vllm:external_prefix_cache_hits_total'),
  );
  expect(of('vllm:prompt_tokens_cached_by_source_total', { source: 'p2p' })).toBe(
    of('vllm:external_prefix_cache_hits_total'),
  );
  expect(of('vllm:num_requests_waiting')).toBe(of('vllm:num_requests_waiting_by_reason'));
  expect(of('baton:sequences_unaccounted')).toBe(0);
  expect(of('baton:kv_lost_blocks')).toBe(0);
}

/** Expects the gauges of an idle cluster. */
function expectAtRest(): void {
  for (const gauge of [
    'vllm:num_requests_running',
    'vllm:num_requests_waiting',
    'vllm:num_requests_waiting_by_reason',
    'vllm:kv_cache_usage_perc',
    'vllm:num_requests_kv_fetch_by_stage',
    'baton:kv_held_blocks',
    'baton:kv_handoffs',
    'baton:queue_depth',
    'baton:waiting_sequences',
    'baton:queue_age_seconds',
    'baton:api_live_sequences',
  ]) {
    expect(of(gauge), gauge).toBe(0);
  }
}

/** Both ends included. */
function betweenOf(seed: number): (from: number, to: number) => number {
  const random = RandomStream.root(seed).stream('load');
  return (from, to) => from + random.integer(to - from + 1);
}

function randomLoad(seed: number): Load {
  const between = betweenOf(seed);
  return {
    requests: between(2, 6),
    promptTokens: between(1, 300),
    outputTokens: between(1, 12),
  };
}

describe.each([1, 2, 3, 4])('after requests one by one (seed %i)', (seed) => {
  const load = randomLoad(seed);
  const { requests: n, promptTokens: p, outputTokens: m } = load;

  it('an aggregated cluster shows the closed formulas of vLLM', async () => {
    cluster = await ClusterFixture.start({ aggregated: 1 + (seed % 2) }, CONFIG);
    await sendOneByOne(load);
    await scrape();
    expect(of('vllm:generation_tokens_total')).toBe(n * m);
    expectRequestFamilies(load);
    expect(of('vllm:prompt_tokens_total')).toBe(n * p);
    expect(of('vllm:prompt_tokens_by_source_total', { source: 'local_compute' })).toBe(n * p);
    expect(of('vllm:iteration_tokens_total_count')).toBe(n * m);
    expect(of('vllm:iteration_tokens_total_sum')).toBe(n * (p + m));
    expect(of('vllm:request_prefill_kv_computed_tokens_count')).toBe(n);
    expect(of('vllm:request_prefill_kv_computed_tokens_sum')).toBe(n * p);
    expect(of('vllm:prefix_cache_queries_total')).toBe(n * p);
    expect(of('vllm:nixl_xfer_time_seconds_count')).toBe(0);
    expectConserved();
    expectAtRest();
  });

  it('a P/D cluster shows them once per request at the front, and per stage in the engines', async () => {
    cluster = await ClusterFixture.start({ prefill: 1 + (seed % 2), decode: 2 }, CONFIG);
    await sendOneByOne(load);
    await scrape();
    expect(of('vllm:generation_tokens_total')).toBe(n * m);
    await untilCounted('baton:kv_releases_total', n);
    expectRequestFamilies(load);
    for (const stage of ['prefill', 'decode']) {
      expect(atStage('vllm:prompt_tokens_total', stage)).toBe(n * p);
      expect(atStage('vllm:request_prefill_kv_computed_tokens_count', stage)).toBe(n);
    }
    expect(atStage('vllm:request_prefill_kv_computed_tokens_sum', 'prefill')).toBe(n * p);
    expect(atStage('vllm:request_prefill_kv_computed_tokens_sum', 'decode')).toBe(0);
    expect(atStage('vllm:generation_tokens_total', 'decode')).toBe(n * m);
    expect(atStage('vllm:iteration_tokens_total_count', 'prefill')).toBe(n);
    expect(atStage('vllm:iteration_tokens_total_sum', 'prefill')).toBe(n * p);
    expect(atStage('vllm:iteration_tokens_total_count', 'decode')).toBe(n * m);
    expect(atStage('vllm:iteration_tokens_total_sum', 'decode')).toBe(n * m);
    const transferred = of('vllm:prompt_tokens_by_source_total', {
      source: 'external_kv_transfer',
    });
    expect(transferred).toBe(n * p);
    expect(of('vllm:external_prefix_cache_queries_total')).toBe(transferred);
    expect(of('vllm:external_prefix_cache_hits_total')).toBe(transferred);
    for (const family of ['xfer_time_seconds', 'post_time_seconds', 'bytes_transferred']) {
      expect(of(`vllm:nixl_${family}_count`), family).toBe(n);
    }
    const blocks = Math.ceil(p / BLOCK);
    // Two regions for each of the 32 layers of the default model.
    expect(of('vllm:nixl_num_descriptors_sum')).toBe(n * blocks * 64);
    expect(of('baton:kv_holdings_total')).toBe(n);
    expect(of('baton:kv_releases_total', { reason: 'read_done' })).toBe(n);
    expect(of('baton:kv_fetches_total', { outcome: 'done' })).toBe(n);
    expectConserved();
    expectAtRest();
  });

  it('the parts of the time to the first token sum up to it', async () => {
    cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, CONFIG);
    await sendOneByOne(load);
    await scrape();
    const parts = 'baton:time_to_first_token_part_seconds';
    for (const part of ['queue', 'prefill', 'transfer', 'first_step']) {
      expect(of(`${parts}_count`, { part })).toBe(n);
    }
    expect(of(`${parts}_sum`)).toBeCloseTo(of('vllm:time_to_first_token_seconds_sum'), 6);
  });
});

describe('when the KV cache is too small for all sequences', () => {
  it('each preemption is one of a finished request', async () => {
    const small = { numGpuBlocksOverride: 12, maxModelLen: 150 };
    cluster = await ClusterFixture.start({ aggregated: 1 }, { ...CONFIG, ...small });
    await Promise.all([0, 1, 2].map((i) => ask({ prompt: prompt(i, 60), max_tokens: 60 })));
    await scrape();
    expect(of('vllm:num_preemptions_total')).toBeGreaterThan(0);
    expect(of('vllm:request_num_preemptions_sum')).toBe(of('vllm:num_preemptions_total'));
    expect(of('vllm:request_num_preemptions_count')).toBe(3);
    expect(of('vllm:iteration_tokens_total_sum')).toBe(3 * (60 + 60));
  });
});

describe.each([5, 6])('under a mixed load at once (seed %i)', (seed) => {
  const between = betweenOf(seed);
  const loads = Array.from({ length: 24 }, () => ({
    promptTokens: between(1, 200),
    shared: between(0, 2),
    n: between(1, 3),
    outputTokens: between(1, 8),
  }));
  const tokens = loads.reduce((sum, { n, outputTokens }) => sum + n * outputTokens, 0);
  const sequences = loads.reduce((sum, { n }) => sum + n, 0);
  const prompts = loads.reduce((sum, { n, promptTokens }) => sum + n * promptTokens, 0);

  it.each([{ prefill: 2, decode: 2 }, { aggregated: 2 }])(
    'counts every sequence, choice and source in %o',
    async (roles) => {
      cluster = await ClusterFixture.start(roles, CONFIG);
      await Promise.all(
        loads.map(({ shared, promptTokens, n, outputTokens }) =>
          ask({ prompt: prompt(shared, promptTokens), n, max_tokens: outputTokens }),
        ),
      );
      await scrape();
      expect(of('vllm:generation_tokens_total')).toBe(tokens);
      await until(async () => {
        await scrape();
        return of('vllm:kv_cache_usage_perc') === 0;
      });
      const stages = Object.keys(roles).length;
      expect(of('vllm:prompt_tokens_total')).toBe(stages * prompts);
      expect(of('vllm:request_prompt_tokens_sum')).toBe(prompts);
      expect(of('vllm:request_generation_tokens_sum')).toBe(tokens);
      expect(of('vllm:request_success_total')).toBe(sequences);
      expect(of('vllm:time_to_first_token_seconds_count')).toBe(sequences);
      expect(of('vllm:inter_token_latency_seconds_count')).toBe(tokens - sequences);
      expect(of('vllm:request_params_n_count')).toBe(loads.length);
      expect(of('vllm:request_params_n_sum')).toBe(sequences);
      const longest = loads.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
      expect(of('vllm:request_max_num_generation_tokens_sum')).toBe(longest);
      const computed = of('vllm:prompt_tokens_by_source_total', { source: 'local_compute' });
      expect(of('vllm:iteration_tokens_total_sum')).toBe(computed + tokens);
      expect(of('vllm:request_num_preemptions_count')).toBe(sequences);
      const hits = of('vllm:prompt_tokens_by_source_total', { source: 'local_cache_hit' });
      expect(hits).toBeGreaterThan(0);
      expectConserved();
      expectAtRest();
    },
  );

  it.each([{ prefill: 1, decode: 1 }, { aggregated: 1 }])(
    'brings all gauges back to zero when clients leave %o early',
    async (roles) => {
      cluster = await ClusterFixture.start(roles, { ...CONFIG, interTokenLatency: 50 });
      const clients = loads.map(({ promptTokens }, i) => leaveEarly(prompt(i, promptTokens)));
      await Promise.all(clients);
      await until(async () => {
        await scrape();
        return of('vllm:request_success_total', { finished_reason: 'abort' }) === loads.length;
      });
      await until(async () => {
        await scrape();
        return of('vllm:kv_cache_usage_perc') + of('vllm:num_requests_waiting') === 0;
      });
      expect(of('vllm:request_success_total')).toBe(loads.length);
      expectConserved();
      expectAtRest();
    },
  );

  /** Streams until the first token, then hangs up. */
  async function leaveEarly(ids: number[]): Promise<void> {
    const leaving = new AbortController();
    const body = { prompt: ids, max_tokens: 400, ignore_eos: true, stream: true };
    const answer = await fetch(`${cluster.api.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    const reader = answer.body!.getReader();
    await reader.read();
    leaving.abort();
    await reader.closed.catch(() => undefined);
  }
});
