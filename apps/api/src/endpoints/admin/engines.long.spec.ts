import type { BatonConfig } from '@baton/config';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

interface Engine {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly requests: number;
  readonly ranks: readonly {
    readonly rank: number;
    readonly engine_id: string;
    readonly name: string;
  }[];
}

/** An answer takes 1.5 s, long enough for a change while it is under way. */
const BODY = { max_tokens: 300, ignore_eos: true };
const SLOW = { speedup: 1, interTokenLatency: 5 } as const;

describe('/admin/engines', () => {
  let cluster: ClusterFixture | undefined;
  let front: ApiFixture | undefined;

  afterEach(async () => {
    await cluster?.stop();
    await front?.stop();
    cluster = undefined;
    front = undefined;
  });

  async function start(
    roles: Parameters<typeof ClusterFixture.start>[0],
    config: Partial<BatonConfig> = {},
  ): Promise<ClusterFixture> {
    cluster = await ClusterFixture.start(roles, { enableAdmin: true, topology: '2P2D', ...config });
    return cluster;
  }

  async function call(method: string, path = '', body?: unknown): Promise<Response> {
    const url = cluster?.api.url ?? front?.api.url;
    return fetch(`${url}/admin/engines${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
  }

  async function engines(): Promise<readonly Engine[]> {
    return ((await (await call('GET')).json()) as { data: readonly Engine[] }).data;
  }

  async function roles(): Promise<string> {
    return (await engines())
      .map(({ role, state }) => `${role} ${state}`)
      .sort()
      .join(', ');
  }

  async function firstOf(role: string): Promise<string> {
    return (await engines()).find((engine) => engine.role === role)?.id ?? '';
  }

  /** Runs a load that a change must not disturb, and returns all of its answers. */
  function load(target: ClusterFixture, count: number): Promise<Response[]> {
    return Promise.all(
      Array.from({ length: count }, (_, i) =>
        target.post({ ...BODY, prompt: `Runner ${i} runs.` }),
      ),
    );
  }

  async function expectWhole(answers: readonly Response[]): Promise<void> {
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      const { usage } = (await answer.json()) as { usage: { completion_tokens: number } };
      expect(usage.completion_tokens).toBe(BODY.max_tokens);
    }
  }

  async function runs(target: ClusterFixture): Promise<void> {
    await until(async () => (await target.metric('vllm:num_requests_running')) > 10);
  }

  it('lists engines with their ranks, by index', async () => {
    await start({ prefill: 1, decode: 1 }, { dataParallelSize: 2 });
    const list = await engines();
    expect(list.map(({ role, state }) => [role, state])).toEqual([
      ['prefill', 'ready'],
      ['decode', 'ready'],
    ]);
    expect(list.map(({ ranks }) => ranks.map(({ rank }) => rank))).toEqual([
      [0, 1],
      [0, 1],
    ]);
    expect(list.every(({ id, ranks }) => ranks[0]?.engine_id === id)).toBe(true);
    expect(list.map(({ name, ranks }) => [name, ...ranks.map((rank) => rank.name)])).toEqual([
      ['P0', 'P0-DP0', 'P0-DP1'],
      ['D0', 'D0-DP0', 'D0-DP1'],
    ]);
  });

  it('lets an engine join, which loads its model before it takes work', async () => {
    // The engine starts for longer than a pause of the machine, so that the test sees it start.
    const target = await start({ prefill: 1, decode: 1 }, { startupDuration: 40 });
    await until(async () => (await roles()) === 'decode ready, prefill ready');
    const answer = await call('POST', '', { role: 'decode' });
    expect([answer.status, await answer.json()]).toEqual([202, { role: 'decode', joining: 1 }]);
    expect(await roles()).toBe('decode ready, decode starting, prefill ready');
    await until(async () => (await roles()) === 'decode ready, decode ready, prefill ready');
    await expectWhole(await load(target, 20));
  });

  it('lets an engine leave once it is empty, and loses no request', async () => {
    const target = await start({ prefill: 2, decode: 2 }, SLOW);
    const answers = load(target, 60);
    await runs(target);
    for (const name of ['D0', 'P0']) {
      const answer = await call('DELETE', `/${name}`);
      expect(answer.status).toBe(202);
      const { id, ...leaving } = (await answer.json()) as { id: string };
      expect(leaving).toEqual({ name, state: 'draining' });
      expect((await call('DELETE', `/${id}`)).status).toBeOneOf([202, 404]);
    }
    await expectWhole(await answers);
    await until(async () => (await roles()) === 'decode ready, prefill ready');
  });

  it('changes the role of an engine, and loses no request', async () => {
    const target = await start({ prefill: 2, decode: 1 }, { ...SLOW, startupDuration: 0.2 });
    await until(async () => (await engines()).every(({ state }) => state === 'ready'));
    const answers = load(target, 60);
    await runs(target);
    const id = await firstOf('prefill');
    const answer = await call('POST', `/${id}/role`, { role: 'decode' });
    const begun = { id, name: 'P0', state: 'draining', becomes: 'decode' };
    expect([answer.status, await answer.json()]).toEqual([202, begun]);
    await until(async () => (await roles()) === 'decode ready, decode ready, prefill ready');
    await expectWhole([...(await answers), ...(await load(target, 40))]);
    const decodes = (await engines()).filter(({ role }) => role === 'decode');
    expect(decodes.map(({ id: each }) => each)).not.toContain(id);
    expect(decodes.map(({ name }) => name).sort()).toEqual(['D0', 'D1']);
    const stepsOf = async (id: string): Promise<number> =>
      (await target.engines()).find(({ engineId }) => engineId === id)?.counters['steps'] ?? 0;
    for (const { id: each } of decodes) await until(async () => (await stepsOf(each)) > 0);
  });

  it('moves all ranks of an engine together, by the id of any rank', async () => {
    await start({ prefill: 2, decode: 1 }, { dataParallelSize: 2 });
    const [target] = await engines();
    const answer = await call('POST', `/${target?.ranks[1]?.engine_id}/role`, { role: 'decode' });
    expect(await answer.json()).toMatchObject({ id: target?.id });
    await until(async () => (await roles()) === 'decode ready, decode ready, prefill ready');
    expect((await engines()).map(({ ranks }) => ranks.length)).toEqual([2, 2, 2]);
  });

  it('keeps the last engine of a role', async () => {
    await start({ prefill: 1, decode: 2 });
    const id = await firstOf('prefill');
    for (const answer of [
      await call('DELETE', `/${id}`),
      await call('POST', `/${id}/role`, { role: 'decode' }),
    ]) {
      expect(answer.status).toBe(409);
      expect(await answer.text()).toContain('the last prefill engine');
    }
    const decodes = (await engines()).filter(({ role }) => role === 'decode');
    const answers = await Promise.all(decodes.map((engine) => call('DELETE', `/${engine.id}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
  });

  it.each([
    [
      'POST',
      '',
      { role: 'router' },
      400,
      "Supported values are: 'prefill', 'decode', and 'aggregated'.",
    ],
    ['POST', '', { count: 2 }, 400, "Missing required parameter: 'role'."],
    ['POST', '', { role: 'decode', count: 0 }, 400, 'Expected a value >= 1, but got 0 instead.'],
    [
      'POST',
      '',
      { role: 'decode', count: 1.5 },
      400,
      'expected an integer, but got a decimal number',
    ],
    ['POST', '', { role: 'decode', count: 4096 }, 400, '4098 in all'],
    ['POST', '', [], 400, 'The request body must be a JSON object.'],
    ['POST', '/nobody/role', { role: 'decode' }, 404, "The engine 'nobody' does not exist."],
    ['DELETE', '/nobody', undefined, 404, "The engine 'nobody' does not exist."],
    ['PUT', '', {}, 405, 'Method Not Allowed'],
    ['GET', '/nobody', undefined, 405, 'Method Not Allowed'],
  ])('refuses %s %s %j', async (method, path, body, status, sentence) => {
    await start({ prefill: 1, decode: 1 });
    const answer = await call(method, path, body);
    expect(answer.status).toBe(status);
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).toContain(sentence);
  });

  it('refuses the role that an engine has already, and a role that the configuration does not allow', async () => {
    const limits = { maxNumBatchedTokens: 8_192, decodeMaxNumSeqs: 9_000 };
    await start({ prefill: 2, aggregated: 1 }, limits);
    const id = await firstOf('prefill');
    for (const [role, sentence] of [
      ['prefill', 'a prefill engine already'],
      ['decode', 'max_num_batched_tokens (8192) must be at least max_num_seqs (9000)'],
    ]) {
      const answer = await call('POST', `/${id}/role`, { role });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain(sentence);
    }
    expect(await roles()).toBe('aggregated ready, prefill ready, prefill ready');
  });

  it('refuses to start engines where roles were started by hand', async () => {
    front = await ApiFixture.start({ config: { enableAdmin: true } });
    const answer = await call('POST', '', { role: 'decode' });
    expect(answer.status).toBe(501);
    expect(await answer.text()).toContain('Start one with `baton up --role`');
  });

  it.each(['openai', 'vllm'] as const)('is unknown unless enabled, in %s', async (dialect) => {
    front = await ApiFixture.start({ config: { dialect } });
    const unknown = await fetch(`${front.api.url}/nowhere`);
    const admin = await call('GET');
    expect([admin.status, await admin.text()]).toEqual([
      404,
      (await unknown.text()).replace('/nowhere', '/admin/engines'),
    ]);
    expect((await call('DELETE', '/x')).status).toBe(404);
  });
});
