import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, readStream } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

const PROMPT = 'the baton is handed from one runner to the next '.repeat(10);
const SHORT = { prompt: PROMPT, max_tokens: 4, ignore_eos: true };

interface Completion {
  readonly choices: readonly { readonly text: string; readonly finish_reason: string }[];
}

/** Number of runs that the engines have started, from their presence. */
async function startedRuns(cluster: ClusterFixture): Promise<number> {
  const engines = await cluster.engines();
  return engines.reduce((sum, { counters }) => sum + (counters['runs_started'] ?? 0), 0);
}

describe.each([
  ['prefill and decode', { prefill: 2, decode: 1 }, '2P1D'],
  ['aggregated', { aggregated: 1 }, '1A'],
] as const)('an operator of %s engines', (_name, roles, topology) => {
  let cluster: ClusterFixture;
  beforeAll(async () => {
    cluster = await ClusterFixture.start(roles, { topology, enableDevMode: true });
  });
  afterAll(() => cluster.stop());
  afterEach(async () => {
    await post('/resume');
  });

  const post = (path: string, body?: object): Promise<Response> =>
    fetch(`${cluster.api.url}${path}`, {
      method: 'POST',
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
  const get = async (path: string): Promise<unknown> =>
    (await fetch(`${cluster.api.url}${path}`)).json();
  const complete = async (body: object = SHORT): Promise<Completion> =>
    (await (await cluster.post(body)).json()) as Completion;
  const hits = (): Promise<number> => cluster.metric('vllm:prefix_cache_hits_total');
  const isIdle = async (): Promise<boolean> =>
    (await cluster.engines()).every(({ gauges }) => gauges.kvUsage === 0);
  it('clears the prefix caches of the engines', async () => {
    await complete();
    await complete();
    await until(async () => (await hits()) > 0);
    await until(isIdle);
    const before = await hits();
    const answer = await post('/reset_prefix_cache');
    expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
    const started = await startedRuns(cluster);
    await complete();
    await until(async () => (await startedRuns(cluster)) > started && (await isIdle()));
    expect(await hits()).toBe(before);
  });

  it('pauses the engines with their requests and resumes them', async () => {
    expect(await (await post('/pause?mode=keep')).json()).toEqual({ status: 'paused' });
    expect(await get('/is_paused')).toEqual({ is_paused: true });
    const started = (): Promise<number> => startedRuns(cluster);
    const before = await started();
    let isAnswered = false;
    const answer = complete().finally(() => (isAnswered = true));
    await until(async () => (await started()) > before);
    expect(isAnswered).toBe(false);
    expect(await (await post('/resume')).json()).toEqual({ status: 'resumed' });
    expect((await answer).choices[0]?.finish_reason).toBe('length');
    expect(await get('/is_paused')).toEqual({ is_paused: false });
  });

  it('waits for requests under way with mode=wait', async () => {
    const answer = complete({ ...SHORT, max_tokens: 200 });
    await until(async () => ((await get('/load')) as { server_load: number }).server_load === 1);
    await post('/pause?mode=wait');
    expect((await answer).choices[0]?.finish_reason).toBe('length');
  });

  it('ends running requests with abort when it pauses the engines', async () => {
    const answer = complete({ ...SHORT, max_tokens: 3_000 });
    await until(async () => ((await get('/load')) as { server_load: number }).server_load === 1);
    await post('/pause');
    expect((await answer).choices[0]?.finish_reason).toBe('abort');
    await until(isIdle);
  });

  it('puts the engines to sleep without their cache and wakes them part by part', async () => {
    await complete();
    expect((await post('/sleep?level=1')).status).toBe(200);
    expect(await get('/is_sleeping')).toEqual({ is_sleeping: true });
    await post('/wake_up?tags=weights');
    expect(await get('/is_sleeping')).toEqual({ is_sleeping: true });
    await post('/wake_up?tags=kv_cache');
    expect(await get('/is_sleeping')).toEqual({ is_sleeping: false });
    expect((await complete()).choices[0]?.finish_reason).toBe('length');
  });

  it.each([
    '/pause?mode=stop',
    '/sleep?level=3',
    '/sleep?mode=x',
    '/wake_up?tags=gpu',
    '/reset_prefix_cache?reset_external=perhaps',
    '/reset_prefix_cache?reset_running_requests=true',
  ])('gets 400 for %s', async (path) => {
    expect((await post(path)).status).toBe(400);
    expect(await get('/is_paused')).toEqual({ is_paused: false });
  });

  it('gets 400 for ids that are not strings', async () => {
    expect((await post('/abort_requests', { request_ids: [1] })).status).toBe(400);
  });

  it('shows the configuration without the address of the broker', async () => {
    const { vllm_config: config } = (await get('/server_info')) as { vllm_config: object };
    expect(config).toMatchObject({ topology });
    expect(config).not.toHaveProperty('redis');
  });

  it('accepts resets of caches that no engine has', async () => {
    expect((await post('/reset_mm_cache')).status).toBe(200);
    expect((await post('/reset_encoder_cache')).status).toBe(200);
  });
});

describe('/abort_requests', () => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { enableDevMode: true }, engines: [{}] });
  });
  afterAll(() => fixture.stop());

  it('ends the requests that it names, with the tokens they have', async () => {
    const body = { prompt: 'x', max_tokens: 50, ignore_eos: true, stream: true };
    const streams = ['one', 'two'].map(async (id) =>
      readStream(await fixture.post('/v1/completions', body, { headers: { 'x-request-id': id } })),
    );
    const runs = [await fixture.engine.next(), await fixture.engine.next()];
    const one = runs.find(({ job }) => job.requestId.startsWith('cmpl-one'));
    const two = runs.find(({ job }) => job.requestId.startsWith('cmpl-two'));
    one?.token(0);
    const answer = await fixture.post('/abort_requests', { request_ids: ['cmpl-one', 'none'] });
    expect(await answer.json()).toEqual({ status: 'aborted', aborted: 1 });
    const ended = await streams[0];
    expect(ended?.finishReason).toBe('abort');
    expect(ended?.events.at(-1)).toBe('[DONE]');
    await until(() => fixture.engine.abortedIds.includes(one?.job.requestId ?? ''));
    await two?.play();
    expect((await streams[1])?.finishReason).toBe('length');
  });

  it('without ids ends them all', async () => {
    const answers = [1, 2, 3].map(() => fixture.post('/v1/completions', { prompt: 'x' }));
    for (let i = 0; i < 3; i += 1) await fixture.engine.next();
    const answer = await fixture.post('/abort_requests', {});
    expect(await answer.json()).toEqual({ status: 'aborted', aborted: 3 });
    for (const one of answers) {
      expect(((await (await one).json()) as Completion).choices[0]?.finish_reason).toBe('abort');
    }
  });
});

describe('without the development mode', () => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { dialect: 'vllm' } });
  });
  afterAll(() => fixture.stop());

  it.each([
    ['GET', '/server_info'],
    ['GET', '/is_sleeping'],
    ['POST', '/sleep'],
    ['POST', '/pause'],
    ['GET', '/pause'],
    ['POST', '/reset_prefix_cache'],
    ['POST', '/abort_requests'],
  ])('%s %s is 404', async (method, path) => {
    const answer = await fetch(`${fixture.api.url}${path}`, { method });
    expect([answer.status, await answer.json()]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('still shows its load', async () => {
    const answer = await fetch(`${fixture.api.url}/load`);
    expect(await answer.json()).toEqual({ server_load: 0 });
  });
});
