import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';
import type { ClusterBatch } from './batch.controller';

const ASK = { prompt: 'the baton is handed on '.repeat(40), ignore_eos: true, stream: true };

let cluster: ClusterFixture | undefined;
afterEach(async () => {
  await cluster?.stop();
  cluster = undefined;
});

async function batch(url: string): Promise<ClusterBatch> {
  return (await (await fetch(`${url}/debug/batch`)).json()) as ClusterBatch;
}

describe('/debug/batch', () => {
  it('shows decoding sequences with their tokens and context', async () => {
    const roles = { prefill: 1, decode: 2 };
    cluster = await ClusterFixture.start(roles, { enableDevMode: true, interTokenLatency: 50 });
    const { url } = cluster.api;
    const asked = ['a', 'b', 'c'].map((id) =>
      cluster!.post({ ...ASK, max_tokens: 60 }, { 'x-request-id': id }),
    );
    await until(async () => (await batch(url)).decode_batch_size === 3);
    const now = await batch(url);
    expect(now.engines.map(({ role }) => role).sort()).toEqual(['decode', 'decode', 'prefill']);
    expect(now).toMatchObject({ prefill_queue_depth: 0, prefill_batch_size: 0 });
    for (const { id, input_tokens, generated_tokens, context_length } of now.decode_requests) {
      expect(id).toMatch(/^cmpl-[abc]-/);
      expect(context_length).toBe(input_tokens + generated_tokens);
      expect(generated_tokens).toBeLessThan(60);
    }
    const contexts = now.decode_requests.map((entry) => entry.context_length);
    const mean = contexts.reduce((sum, length) => sum + length, 0) / 3;
    expect(now.decode_avg_context_length).toBeCloseTo(mean);
    for (const { running, requests, omitted, kv_cache_usage } of now.engines) {
      expect(requests.filter(({ phase }) => phase === 'decode').length).toBe(running);
      expect(omitted).toBe(0);
      expect(kv_cache_usage > 0).toBe(running > 0);
    }
    for (const answer of asked) await (await answer).text();
    await until(async () => (await batch(url)).engines.every(({ requests }) => !requests.length));
  });

  it('shows the prompts in computation and those that wait', async () => {
    const options = { enableAdmin: true, timeToFirstToken: 3_000, maxNumSeqs: 2 };
    cluster = await ClusterFixture.start({ aggregated: 1 }, options);
    const { url } = cluster.api;
    const asked = [1, 2, 3].map(() => cluster!.post({ ...ASK, max_tokens: 2 }));
    await until(async () => (await batch(url)).prefill_batch_size > 0);
    const { engines, prefill_batch_size, prefill_batch_tokens } = await batch(url);
    const [{ requests, is_stepping } = { requests: [], is_stepping: false }] = engines;
    const prefill = requests.filter(({ phase }) => phase === 'prefill');
    expect(prefill.length).toBe(prefill_batch_size);
    expect(prefill_batch_tokens).toBe(prefill[0]!.input_tokens * prefill_batch_size);
    expect(is_stepping).toBe(true);
    for (const answer of asked) await (await answer).text();
  });

  it('does not exist without one of the switches', async () => {
    const fixture = await ApiFixture.start();
    expect((await fetch(`${fixture.api.url}/debug/batch`)).status).toBe(404);
    await fixture.stop();
  });
});
