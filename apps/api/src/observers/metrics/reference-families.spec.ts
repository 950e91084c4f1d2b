import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { type Family, parseExposition } from '../../../test/exposition';
import {
  FILLED,
  GONE,
  OPTIONAL,
  type ReferenceFamily,
  SINCE_32,
  UNFILLED,
} from '../../../test/vllm-families';

/** Families of single stages, or of the front. */
const PARTIAL_SINCE_32 = ['num_requests_kv_fetch_by_stage', 'admission_rejections_total'];

const FEATURES = { numSpeculativeTokens: 2, kvOffloadingSize: 1 };

async function pageOf(features: object): Promise<Map<string, Family>> {
  const cluster = await ClusterFixture.start({ prefill: 1, decode: 2 }, features);
  const text = await (await fetch(`${cluster.api.url}/metrics`)).text();
  await cluster.stop();
  return parseExposition(text);
}

describe('the page of metrics beside what vLLM serves', () => {
  let plain: Map<string, Family>;
  let featured: Map<string, Family>;
  let newest: Map<string, Family>;

  beforeAll(async () => {
    plain = await pageOf({});
    featured = await pageOf(FEATURES);
    newest = await pageOf({ ...FEATURES, vllmVersion: '0.33' });
  });

  function expectSame(page: Map<string, Family>, wanted: ReferenceFamily): void {
    const family = page.get(`vllm:${wanted.name}`);
    expect(family).toMatchObject({ type: wanted.type, help: wanted.help });
    const { samples } = family!;
    const own = Object.entries(wanted.labels ?? {});
    const names = ['engine', 'model_name', ...own.map(([name]) => name)].sort();
    for (const { labels } of samples) {
      const { le: _le, ...others } = labels;
      expect(Object.keys(others).sort()).toEqual(names);
    }
    for (const engine of ['0', '1', '2']) {
      const here = samples.filter(({ labels }) => labels['engine'] === engine);
      for (const [name, values] of own) {
        expect(here.map(({ labels }) => labels[name])).toEqual(values);
      }
      if (wanted.le) {
        expect(here.flatMap(({ labels }) => labels['le'] ?? [])).toEqual([...wanted.le, '+Inf']);
        expect(here.filter(({ name }) => /_(sum|count)$/.test(name))).toHaveLength(2);
      }
    }
  }

  it.each(FILLED)('has $name with its type, text, labels and buckets', (wanted) => {
    expectSame(plain, wanted);
  });

  it.each(OPTIONAL)('has $name when the engines have the counted feature', (wanted) => {
    expectSame(featured, wanted);
    expect(plain.get(`vllm:${wanted.name}`)?.samples).toEqual([]);
  });

  it.each(SINCE_32)('has $name at vllm_version 0.33', (wanted) => {
    expectSame(newest, wanted);
    expect(plain.has(`vllm:${wanted.name}`)).toBe(false);
  });

  it('has the stages of fetches of decode engines at vllm_version 0.33', () => {
    const name = 'vllm:num_requests_kv_fetch_by_stage';
    const { type, samples } = newest.get(name)!;
    expect(type).toBe('gauge');
    expect(samples.map(({ labels }) => `${labels['engine']} ${labels['stage']}`)).toEqual(
      ['1', '2'].flatMap((engine) =>
        ['waiting_to_start', 'in_progress', 'completed_waiting'].map((one) => `${engine} ${one}`),
      ),
    );
    expect(plain.has(name)).toBe(false);
  });

  it('has the reasons of refusals for a full queue at vllm_version 0.33', () => {
    const name = 'vllm:admission_rejections_total';
    expect(newest.get(name)).toMatchObject({
      type: 'counter',
      samples: ['max_num_queued_reqs', 'max_num_queued_tokens'].map((reason) => ({
        labels: { model_name: 'llama-3.1-8b', reason },
        value: 0,
      })),
    });
    expect(plain.has(name)).toBe(false);
  });

  it('has no number of preemptions per request before vllm_version 0.30', async () => {
    const page = await pageOf({ vllmVersion: '0.29' });
    expect(page.has('vllm:request_num_preemptions')).toBe(false);
  });

  it('has the configuration of each engine’s cache, without a model name', () => {
    const { type, help, samples } = plain.get('vllm:cache_config_info')!;
    expect({ type, help }).toEqual({
      type: 'gauge',
      help: 'Information of the LLMEngine CacheConfig',
    });
    expect(samples).toHaveLength(3);
    for (const { labels, value } of samples) {
      expect(value).toBe(1);
      expect(labels).not.toHaveProperty('model_name');
      expect(Number(labels['kv_cache_size_tokens'])).toBeGreaterThan(0);
      expect(Number(labels['kv_cache_max_concurrency'])).toBeGreaterThan(0);
    }
  });

  it('invents no name of vLLM’s and serves none that is gone', () => {
    const known = [...FILLED, ...OPTIONAL, ...SINCE_32].map(({ name }) => `vllm:${name}`);
    known.push('vllm:cache_config_info');
    for (const name of PARTIAL_SINCE_32) known.push(`vllm:${name}`);
    const served = [...newest.keys()].filter((name) => name.startsWith('vllm:'));
    expect(served.filter((name) => !known.includes(name))).toEqual([]);
    expect(served.filter((name) => GONE.includes(name.slice('vllm:'.length)))).toEqual([]);
  });

  it('documents why every other family has no numbers', () => {
    const text = readFileSync(new URL('../../../../../docs/metrics.md', import.meta.url), 'utf8');
    const served = new Set([...FILLED, ...OPTIONAL].map(({ name }) => name));
    expect(UNFILLED.filter((name) => served.has(name) || served.has(`${name}_total`))).toEqual([]);
    expect(UNFILLED.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('has the HTTP families of the FastAPI instrumentation', () => {
    const types = Object.fromEntries(
      [...plain.values()]
        .filter(({ name }) => name.startsWith('http_'))
        .map(({ name, type }) => [name, type]),
    );
    expect(types).toEqual({
      http_requests_total: 'counter',
      http_request_duration_highr_seconds: 'histogram',
      http_request_duration_seconds: 'histogram',
      http_request_size_bytes: 'summary',
      http_response_size_bytes: 'summary',
    });
  });

  it('lists every family of ours in docs/metrics.md', () => {
    const text = readFileSync(new URL('../../../../../docs/metrics.md', import.meta.url), 'utf8');
    const ours = [...featured.keys()].filter((name) => name.startsWith('baton:'));
    expect(ours.length).toBeGreaterThan(30);
    expect(ours.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});
