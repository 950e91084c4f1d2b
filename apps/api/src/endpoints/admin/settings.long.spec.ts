import type { BatonConfig } from '@baton/config';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

interface View {
  readonly object: string;
  readonly revision: number;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly fixed: Readonly<Record<string, unknown>>;
}

const BODY = { prompt: 'Anna runs.', max_tokens: 3, ignore_eos: true };
const BUSY = { name: 'busy', at: 'queue', fault: 'error', status: 429 };

describe('/admin/config', () => {
  let cluster: ClusterFixture | undefined;
  let front: ApiFixture | undefined;

  afterEach(async () => {
    await cluster?.stop();
    await front?.stop();
    cluster = undefined;
    front = undefined;
  });

  async function start(config: Partial<BatonConfig> = {}): Promise<ClusterFixture> {
    const roles = { prefill: 1, decode: 2 };
    cluster = await ClusterFixture.start(roles, { topology: '1P2D', enableAdmin: true, ...config });
    return cluster;
  }

  function call(body?: unknown): Promise<Response> {
    const url = `${cluster?.api.url ?? front?.api.url}/admin/config`;
    if (body === undefined) return fetch(url);
    const headers = { 'content-type': 'application/json' };
    return fetch(url, { method: 'POST', body: JSON.stringify(body), headers });
  }

  async function change(body: unknown): Promise<View> {
    const answer = await call(body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as View;
  }

  it('shows the current settings, and those that cannot change', async () => {
    await start({ faults: JSON.stringify([BUSY]), speedup: 20 });
    const view = (await (await call()).json()) as View;
    expect(view).toMatchObject({
      object: 'config',
      revision: 0,
      settings: { faults: [BUSY], failure_injection_rate: 0, placement: 'pull' },
      fixed: { topology: '1P2D', speedup: 20 },
    });
  });

  it('switches faults on and off for the next request', async () => {
    const target = await start();
    expect((await target.post(BODY)).status).toBe(200);
    const view = await change({ faults: [BUSY] });
    expect([view.revision, view.settings['faults']]).toEqual([1, [BUSY]]);
    expect((await target.post(BODY)).status).toBe(429);
    expect((await change({ faults: null })).settings['faults']).toBeNull();
    expect((await target.post(BODY)).status).toBe(200);
  });

  it('accepts llm-d’s names', async () => {
    const target = await start();
    const failing = { 'failure-injection-rate': 100, 'failure-types': ['model_not_found'] };
    await change(failing);
    const answer = await target.post(BODY);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { message: "The model 'llama-3.1-8b-nonexistent' does not exist", param: 'model' } },
    ]);
    await change({ 'failure-injection-rate': 0 });
    expect((await target.post(BODY)).status).toBe(200);
  });

  it('changes the placement policy without losing a request', async () => {
    const target = await start();
    const post = (i: number): Promise<Response> => target.post({ ...BODY, prompt: `Run ${i}.` });
    const running = Array.from({ length: 20 }, (_none, i) => post(i));
    await change({ placement: 'round-robin' });
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(
      running.map(() => 200),
    );
    const label = { policy: 'round-robin', stage: 'decode' };
    await until(async () => {
      await post(99);
      return (await target.metric('baton:placement_decisions_total', label)) > 3;
    });
    await change({ placement: 'pull' });
    expect(await target.metric('baton:placement_decisions_total')).toBe(0);
    expect((await post(100)).status).toBe(200);
  });

  it('shows fake metrics in place of the real ones', async () => {
    const target = await start();
    const loras = [{ running: 'a,b', waiting: 'c', timestamp: 1_257_894_567 }];
    await change({ 'fake-metrics': { 'running-requests': 7, 'kv-cache-usage': 0.4, loras } });
    expect(await target.metric('vllm:num_requests_running')).toBe(3 * 7);
    expect(await target.metric('vllm:kv_cache_usage_perc')).toBeCloseTo(3 * 0.4);
    expect(await target.metric('vllm:num_requests_waiting')).toBe(0);
    const running = { running_lora_adapters: 'a,b', waiting_lora_adapters: 'c', max_lora: '1' };
    expect(await target.metric('vllm:lora_requests_info', running)).toBe(1_257_894_567);
    await change({ 'fake-metrics': { 'waiting-requests': 'squarewave:5:5:1s' } });
    expect(await target.metric('vllm:num_requests_waiting')).toBe(3 * 5);
    await change({ fake_metrics: null });
    expect(await target.metric('vllm:num_requests_running')).toBe(0);
    expect(await target.metric('vllm:lora_requests_info')).toBe(0);
  });

  it.each([
    [{ speedup: 2 }, 'speedup cannot change while the cluster runs; these can: faults, '],
    [{ placment: 'pull' }, "unknown option 'placment'; did you mean 'placement'?"],
    [{ faults: [{ ...BUSY, rate: 3 }] }, 'faults[0].rate must be a number from 0.000001 to 1.'],
    [[], 'The request body must be a JSON object.'],
  ])('refuses %j and changes nothing', async (body, sentence) => {
    front = await ApiFixture.start({ config: { enableAdmin: true } });
    const answer = await call(body);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(sentence);
    expect(((await (await call()).json()) as View).revision).toBe(0);
  });

  it('is unknown unless enabled', async () => {
    front = await ApiFixture.start();
    expect([(await call()).status, (await call({ faults: [] })).status]).toEqual([404, 404]);
  });
});
