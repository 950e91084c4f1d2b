import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../../test/support/free-port';
import { ApiFixture, readStream } from '../../test/api-fixture';
import { until } from '../../test/until';
import { ClusterView } from './cluster-view';

const PARAMS = {
  do_remote_prefill: true,
  do_remote_decode: false,
  remote_block_ids: [[1, 2, 3]],
  remote_engine_id: 'prefill-0',
  remote_request_id: 'cmpl-x-0',
  remote_host: 'localhost',
  remote_port: 5600,
  tp_size: 1,
  remote_num_tokens: 40,
  remote_blocks_expiry_time: null,
  transfer_mode: 'pull',
} as const;
const HOLD = { do_remote_decode: true, do_remote_prefill: false };
const SPLIT = {
  config: { topology: '1P1D' },
  engines: [{ stage: 'prefill' }, { stage: 'decode', index: 1 }],
} as const;

let fixture: ApiFixture;

afterEach(() => fixture.stop());

describe('kv_transfer_params from outside', () => {
  it('make a prefill leg: one token, length, and the eleven fields in the answer', async () => {
    fixture = await ApiFixture.start(SPLIT);
    const answer = fixture.post('/v1/completions', {
      prompt: 'x',
      max_tokens: 20,
      kv_transfer_params: HOLD,
    });
    const run = await fixture.engine.next();
    expect(run.job).toMatchObject({ flow: 'hold', outputTokens: 1, endReason: 'length' });
    run.endSequence({ tail: JSON.stringify(PARAMS) });
    const body = (await (await answer).json()) as {
      kv_transfer_params: object;
      choices: { finish_reason: string }[];
      usage: { completion_tokens: number };
    };
    expect(body.kv_transfer_params).toEqual(PARAMS);
    expect(body.choices[0]?.finish_reason).toBe('length');
    expect(body.usage.completion_tokens).toBe(1);
  });

  it('make a decode leg of the job that carries them', async () => {
    fixture = await ApiFixture.start(SPLIT);
    const answer = fixture.post('/v1/completions', {
      prompt: 'x',
      max_tokens: 3,
      kv_transfer_params: PARAMS,
    });
    const run = await fixture.engines[1]!.next();
    expect(run.job.flow).toBe('attach');
    expect(run.job.kvTransferParams).toEqual(PARAMS);
    await run.play();
    expect((await answer).status).toBe(200);
  });

  it.each([
    ['without an engine id', { ...PARAMS, remote_engine_id: null }],
    ['with block ids that are no lists', { ...PARAMS, remote_block_ids: 'all' }],
    ['with nothing but the wish', { do_remote_prefill: true }],
  ])('%s are served without a transfer', async (_name, params) => {
    fixture = await ApiFixture.start(SPLIT);
    const answer = fixture.post('/v1/completions', {
      prompt: 'x',
      max_tokens: 3,
      kv_transfer_params: params,
    });
    const run = await fixture.engine.next();
    expect(run.job.flow).toBe('route');
    await run.play();
    expect((await answer).status).toBe(200);
  });

  it('are freed at once by their holder when the decode leg is refused for good', async () => {
    fixture = await ApiFixture.start(SPLIT);
    const held = {
      ...PARAMS,
      remote_engine_id: 'fake-prefill',
      remote_request_id: 'cmpl-x-0-0000001f',
    };
    const body = { prompt: 'x', model: 'unknown', kv_transfer_params: held };
    expect((await fixture.post('/v1/completions', body)).status).toBe(404);
    const { messages } = fixture.engine;
    await until(() => messages.length > 0);
    expect(messages[0]).toMatchObject({ kind: 'release', requestId: 'cmpl-x-0', generation: 31 });
  });

  it('apply to the first choice only', async () => {
    fixture = await ApiFixture.start(SPLIT);
    const body = { prompt: 'x', n: 2, max_tokens: 3, kv_transfer_params: PARAMS };
    const answer = fixture.post('/v1/completions', body);
    const [attached, routed] = [await fixture.engines[1]!.next(), await fixture.engine.next()];
    expect([attached.job.flow, routed.job.flow]).toEqual(['attach', 'route']);
    await Promise.all([attached.play(), routed.play()]);
    expect((await answer).status).toBe(200);
  });
});

describe('engines behind ports of their own', () => {
  let basePort: number;
  beforeEach(async () => {
    basePort = await freePort(2);
  });

  it('take requests only for their own engine, and close when it leaves', async () => {
    fixture = await ApiFixture.start({
      config: { topology: '1P1D', exposeEngines: true, exposeEnginesPort: basePort },
      engines: SPLIT.engines,
    });
    const url = `http://127.0.0.1:${basePort + 1}`;
    const answer = fetch(`${url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'x', max_tokens: 4, ignore_eos: true, stream: true }),
    });
    const run = await fixture.engines[1]!.next();
    expect(run.job).toMatchObject({ flow: 'local', engineId: 'fake-decode' });
    await run.play();
    expect((await readStream(await answer)).finishReason).toBe('length');
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('vllm:num_requests_running{engine="1"');
    expect(metrics).not.toContain('engine="0"');
    await fixture.engines[1]!.drain();
    const cluster = fixture.api.app.get(ClusterView);
    await until(() => cluster.find('fake-decode')?.state === 'draining');
    await fixture.engines[1]!.stop();
    let isGone = false;
    const probe = setInterval(() => {
      fetch(`${url}/health`).catch(() => (isGone = true));
    }, 100);
    await until(() => isGone);
    clearInterval(probe);
  });

  it('stay open while the engine is silent, answer 503, and recover', async () => {
    fixture = await ApiFixture.start({
      config: { topology: '1P1D', exposeEngines: true, exposeEnginesPort: basePort },
      engines: SPLIT.engines,
    });
    const cluster = fixture.api.app.get(ClusterView);
    const [, engine] = fixture.engines;
    const ask = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${basePort + 1}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'x', max_tokens: 4, ignore_eos: true }),
      });
    await engine!.fallSilent();
    await until(() => cluster.find('fake-decode') === undefined);
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    await engine!.announce();
    await until(() => cluster.find('fake-decode') !== undefined);
    const answer = ask();
    await (await engine!.next()).play();
    expect((await answer).status).toBe(200);
  });

  it('close when the engine is silent for longer than the grace', async () => {
    fixture = await ApiFixture.start({
      config: {
        topology: '1P1D',
        exposeEngines: true,
        exposeEnginesPort: basePort,
        exposedPortGrace: 0,
      },
      engines: SPLIT.engines,
    });
    const url = `http://127.0.0.1:${basePort + 1}/health`;
    expect((await fetch(url)).status).toBe(200);
    await fixture.engines[1]!.fallSilent();
    await until(async () => (await fetch(url).catch(() => undefined)) === undefined);
  });

  it('take the prefill leg of an outside router', async () => {
    fixture = await ApiFixture.start({
      config: { topology: '1P1D', exposeEngines: true, exposeEnginesPort: basePort },
      engines: SPLIT.engines,
    });
    const answer = fetch(`http://127.0.0.1:${basePort}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'x', max_tokens: 1, kv_transfer_params: HOLD }),
    });
    const run = await fixture.engine.next();
    expect(run.job).toMatchObject({ flow: 'hold', engineId: 'fake-prefill' });
    run.endSequence({ tail: JSON.stringify(PARAMS) });
    expect(((await (await answer).json()) as { id: string }).id).toMatch(/^cmpl-/);
  });

  it('fail the requests that were sent to them when they die', async () => {
    fixture = await ApiFixture.start({
      config: { topology: '1P1D', exposeEngines: true, exposeEnginesPort: basePort },
      engines: SPLIT.engines,
    });
    const answer = fetch(`http://127.0.0.1:${basePort}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'x', max_tokens: 5 }),
    });
    await fixture.engine.next();
    await fixture.engine.stop();
    expect((await answer).status).toBe(500);
  });
});

describe('an incomplete cluster', () => {
  it('names the missing stages, and refuses requests until they are present', async () => {
    fixture = await ApiFixture.start({
      config: { topology: '1P1D' },
      engines: [{ stage: 'prefill' }],
    });
    const ready = await fetch(`${fixture.api.url}/health/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain('no decode engine is ready');
    expect((await fetch(`${fixture.api.url}/health`)).status).toBe(503);
    expect((await fetch(`${fixture.api.url}/health/live`)).status).toBe(200);
    const refused = await fixture.post('/v1/completions', { prompt: 'x' });
    expect(refused.status).toBe(503);
  });

  it('is ready when each needed stage has an engine', async () => {
    fixture = await ApiFixture.start(SPLIT);
    expect((await fetch(`${fixture.api.url}/health/ready`)).status).toBe(200);
    const health = await fetch(`${fixture.api.url}/health`);
    expect([health.status, await health.text()]).toEqual([200, '']);
    const ping = await fetch(`${fixture.api.url}/ping`, { method: 'POST' });
    expect(ping.status).toBe(200);
  });

  it('refuses a request that no engine could ever hold', async () => {
    fixture = await ApiFixture.start({ engines: [{ numBlocks: 10 }] });
    const refused = await fixture.post('/v1/completions', { prompt: 'x', max_tokens: 1_000 });
    expect(refused.status).toBe(400);
  });
});

describe('a stage whose engines have gone', () => {
  const ask = { prompt: 'x', max_tokens: 2 };

  it('keeps its requests for engine_grace, and then ends them', async () => {
    fixture = await ApiFixture.start({ config: { engineGrace: 2, brokerGrace: 0 } });
    await fixture.engine.stop();
    const startMs = performance.now();
    const answer = await fixture.post('/v1/completions', ask);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('No engine is ready');
    expect(performance.now() - startMs).toBeGreaterThan(1_000);
  });
});
