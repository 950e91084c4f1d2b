import { afterEach, describe, expect, it } from 'vitest';
import { ClusterFixture } from '../../apps/api/test/cluster-fixture';
import { type Family, parseExposition, type Sample } from '../../apps/api/test/exposition';
import { until } from '../../apps/api/test/until';

/**
 * The model server protocol of the Gateway API inference extension, as its endpoint picker reads
 * it: llm-d-router, `docs/plugin-metric-protocol.md`, and `datalayer/extractor/metrics`. A name in
 * `name{label=value}` is one series of a family; `name[label]` is the value of a label.
 */
const PROTOCOL = {
  vllm: {
    queued: 'vllm:num_requests_waiting',
    running: 'vllm:num_requests_running',
    kvUsage: 'vllm:kv_cache_usage_perc',
    blockSize: 'vllm:cache_config_info[block_size]',
    blocks: 'vllm:cache_config_info[num_gpu_blocks]',
    cacheTokens: undefined,
  },
  sglang: {
    queued: 'sglang:num_queue_reqs',
    running: 'sglang:num_running_reqs',
    kvUsage: 'sglang:token_usage',
    blockSize: 'sglang:cache_config_info[page_size]',
    blocks: 'sglang:cache_config_info[num_pages]',
    cacheTokens: 'sglang:max_total_num_tokens',
  },
  'trtllm-serve': {
    queued: 'trtllm_num_requests_waiting',
    running: 'trtllm_num_requests_running',
    kvUsage: 'trtllm_kv_cache_utilization',
    blockSize: 'trtllm_kv_cache_tokens_per_block',
    blocks: 'trtllm_kv_cache_max_blocks',
    cacheTokens: undefined,
  },
  triton: {
    queued: 'nv_trt_llm_request_metrics{request_type=waiting}',
    running: 'nv_trt_llm_request_metrics{request_type=scheduled}',
    kvUsage: 'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=fraction}',
    blockSize: 'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=tokens_per}',
    blocks: 'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=max}',
    cacheTokens: undefined,
  },
} as const;

const FLAVOURS = { vllm: 'vllm', sglang: 'sglang', 'trtllm-serve': 'trtllm', triton: 'trtllm' };
type Server = keyof typeof PROTOCOL;

/** vLLM counts its null block, which the other servers do not have. */
const BLOCKS = { vllm: 64, sglang: 63, 'trtllm-serve': 63, triton: 63 };
const BLOCK_SIZE = 16;
const SERVERS = Object.keys(PROTOCOL) as Server[];

/** The samples that a name of the protocol selects, one per engine. The family must be a gauge. */
function select(families: ReadonlyMap<string, Family>, spec: string): number[] {
  const [, name = '', key, value, label] = /^([\w:]+)(?:\{(\w+)=(\w+)\}|\[(\w+)\])?$/.exec(spec)!;
  const family = families.get(name);
  expect(family?.type, name).toBe('gauge');
  const isMeant = ({ labels }: Sample): boolean => key === undefined || labels[key] === value;
  return family!.samples
    .filter(isMeant)
    .map((sample) => Number(label === undefined ? sample.value : sample.labels[label]));
}

describe('the model server protocol of the inference extension', () => {
  let cluster: ClusterFixture;

  afterEach(() => cluster.stop());

  const page = async (): Promise<ReadonlyMap<string, Family>> => {
    const answer = await fetch(`${cluster.api.url}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    return parseExposition(await answer.text());
  };

  const ask = (body: object, signal: AbortSignal, path = '/v1/completions'): Promise<Response> =>
    fetch(`${cluster.api.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });

  it.each(SERVERS)('has the load of each engine under the names of %s', async (server) => {
    const names = PROTOCOL[server];
    cluster = await ClusterFixture.start(
      { aggregated: 1 },
      {
        metricsFlavour: FLAVOURS[server] as 'vllm',
        numGpuBlocksOverride: BLOCKS.vllm,
        blockSize: BLOCK_SIZE,
        maxModelLen: 512,
        maxNumSeqs: 2,
        interTokenLatency: 2_000,
      },
    );
    const idle = await page();
    for (const name of [names.queued, names.running, names.kvUsage]) {
      expect(select(idle, name), name).toEqual([0]);
    }
    expect(select(idle, names.blockSize)).toEqual([BLOCK_SIZE]);
    expect(select(idle, names.blocks)).toEqual([BLOCKS[server]]);
    if (names.cacheTokens !== undefined) {
      expect(select(idle, names.cacheTokens)).toEqual([BLOCKS[server] * BLOCK_SIZE]);
    }

    const leave = new AbortController();
    const asked = [1, 2, 3, 4, 5].map((i) =>
      ask({ prompt: `Prompt ${i}.`, max_tokens: 400, ignore_eos: true }, leave.signal),
    );
    await until(async () => {
      const busy = await page();
      return select(busy, names.running)[0] === 2 && select(busy, names.queued)[0] === 3;
    });
    const [usage] = select(await page(), names.kvUsage);
    expect(usage).toBeGreaterThan(0);
    expect(usage).toBeLessThanOrEqual(1);

    leave.abort();
    await Promise.allSettled(asked);
    await until(async () => {
      const after = await page();
      return [names.queued, names.running, names.kvUsage].every((n) => select(after, n)[0] === 0);
    });
  });

  it('serves a LoRA adapter that `model` names, over both endpoints, and reports it', async () => {
    cluster = await ClusterFixture.start(
      { aggregated: 1 },
      { enableLora: true, loraModules: ['one=/one', 'two=/two'], maxLoras: 2 },
    );
    const messages = [{ role: 'user', content: 'Hello.' }];
    for (const model of ['one', 'two']) {
      for (const [path, body] of [
        ['/v1/completions', { prompt: 'Hello.' }],
        ['/v1/chat/completions', { messages }],
      ] as const) {
        const answer = await fetch(`${cluster.api.url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model, max_tokens: 2, ...body }),
        });
        expect([answer.status, ((await answer.json()) as { model: string }).model]).toEqual([
          200,
          model,
        ]);
      }
    }
    const family = (await page()).get('vllm:lora_requests_info')!;
    expect(family.type).toBe('gauge');
    for (const { labels, value } of family.samples) {
      expect(Object.keys(labels).sort()).toEqual([
        'max_lora',
        'running_lora_adapters',
        'waiting_lora_adapters',
      ]);
      expect(labels['max_lora']).toBe('2');
      // The picker takes the series with the latest time, in seconds.
      expect(Math.abs(value - Date.now() / 1_000)).toBeLessThan(3_600);
    }
  });

  it('shows by a label and by families that blocks are offloaded', async () => {
    const config = { kvOffloadingSize: 4, kvOffloadingBandwidth: 10 };
    cluster = await ClusterFixture.start({ aggregated: 1 }, config);
    const families = await page();
    expect(select(families, 'vllm:cache_config_info[kv_offloading_size]')).toEqual([4]);
    expect([...families.keys()].filter((name) => name.startsWith('vllm:kv_offload_'))).not.toEqual(
      [],
    );
  });

  it('shows by a label that nothing is offloaded', async () => {
    cluster = await ClusterFixture.start({ aggregated: 1 }, {});
    const [{ labels } = { labels: {} }] = (await page()).get('vllm:cache_config_info')!.samples;
    expect(labels).toMatchObject({ kv_offloading_size: 'None' });
  });
});
