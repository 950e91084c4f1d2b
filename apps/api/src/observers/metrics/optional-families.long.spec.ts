import { profileToFile } from '@baton/step-time';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { type Family, parseExposition, sumOf } from '../../../test/exposition';
import { until } from '../../../test/until';

/** Of the default model: 32 layers, K and V of 8 heads of 128 in 16 bits. */
const KV_BYTES_PER_TOKEN = 131_072;

const FOLDER = mkdtempSync(join(tmpdir(), 'baton-metrics-'));

/** Measured with steps of at most 4,096 tokens. */
const PROFILE = profileToFile({
  linear: { tokens: [1, 4096], ms: [5, 45] },
  decodeAttentionMs: [0, 0.01, 1e-5],
  prefillAttentionMs: [0, 1e-7],
  overheadMs: 0.5,
  mixedDecodeFactor: 2,
  valid: {
    stepTokens: [1, 4096],
    prefillTokens: [64, 4096],
    prefillQuadraticMax: 8192 ** 2,
    decodeSeqs: [1, 64],
    decodeContextMax: 200_000,
  },
});

describe('families for optional parts of an engine', () => {
  let cluster: ClusterFixture;

  afterEach(() => cluster.stop());
  afterAll(() => rmSync(FOLDER, { recursive: true }));

  const page = async (): Promise<ReadonlyMap<string, Family>> =>
    parseExposition(await (await fetch(`${cluster.api.url}/metrics`)).text());

  async function ask(body: object): Promise<void> {
    const answer = await cluster.post({ max_tokens: 2, ignore_eos: true, ...body });
    expect(answer.status).toBe(200);
    await answer.text();
  }

  const prompt = (from: number, tokens: number): number[] =>
    Array.from({ length: tokens }, (_none, i) => from + i);

  it('count loads from host memory: tokens, bytes, and the time on the link', async () => {
    const config = { numGpuBlocksOverride: 40, kvOffloadingSize: 4, kvOffloadingBandwidth: 10 };
    cluster = await ClusterFixture.start({ aggregated: 1 }, { ...config, maxModelLen: 600 });
    for (const from of [1_000, 5_000, 1_000]) await ask({ prompt: prompt(from, 512) });
    let families = await page();
    const of = (name: string): number => sumOf(families, name);
    await until(async () => {
      families = await page();
      return of('vllm:generation_tokens_total') === 6;
    });
    const tokens = of('baton:prompt_tokens_from_host_total');
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual(
      sumOf(families, 'vllm:prompt_tokens_by_source_total', { source: 'local_cache_hit' }),
    );
    expect(of('vllm:kv_offload_load_bytes_total')).toBe(tokens * KV_BYTES_PER_TOKEN);
    expect(of('vllm:kv_offload_load_time_total')).toBeCloseTo((tokens * KV_BYTES_PER_TOKEN) / 10e9);
  });

  it('count steps outside of the range of the step-time model, per engine', async () => {
    const stepTimeFile = join(FOLDER, 'profile.yaml');
    writeFileSync(stepTimeFile, stringify(PROFILE));
    cluster = await ClusterFixture.start({ aggregated: 2 }, { stepTime: 'auto', stepTimeFile });
    let families = await page();
    expect(sumOf(families, 'baton:steps_outside_range_total')).toBe(0);
    await ask({ prompt: prompt(1_000, 6_000) });
    await until(async () => {
      families = await page();
      return sumOf(families, 'vllm:generation_tokens_total') === 2;
    });
    // One engine took the request, and its prompt was one step.
    const counts = families
      .get('baton:steps_outside_range_total')!
      .samples.map(({ value }) => value)
      .sort((a, b) => a - b);
    expect(counts).toEqual([0, 1]);
    const ratios = families
      .get('baton:step_farthest_outside_range_ratio')!
      .samples.map(({ value }) => value)
      .sort((a, b) => a - b);
    expect(ratios).toEqual([1, 6_000 / 4_096]);
    const methods = families.get('baton:step_time_info')!.samples.map(({ labels }) => labels);
    expect(methods).toHaveLength(2);
    expect(methods[0]).toMatchObject({ stage: 'aggregated', method: 'calibrated' });
    expect(methods[0]!.description).toContain('calibrated');
  });

  it('name the LoRA adapters that run and wait', async () => {
    const config = { enableLora: true, loraModules: ['a=/a', 'b=/b'], interTokenLatency: 20 };
    cluster = await ClusterFixture.start({ aggregated: 1 }, { ...config, maxNumSeqs: 1 });
    const info = async (): Promise<string> => {
      const [sample] = (await page()).get('vllm:lora_requests_info')!.samples;
      const { max_lora, running_lora_adapters, waiting_lora_adapters } = sample!.labels;
      return `${max_lora} ${running_lora_adapters} ${waiting_lora_adapters}`;
    };
    expect(await info()).toBe('1  ');
    const asked = ['a', 'b'].map((model, i) =>
      until(async () => i === 0 || (await info()) === '1 a ').then(() =>
        ask({ model, prompt: 'x', max_tokens: 400 }),
      ),
    );
    await until(async () => (await info()) === '1 a b');
    await until(async () => (await info()) === '1 b ');
    await Promise.all(asked);
    await until(async () => (await info()) === '1  ');
  });
});
