import type { EnginePresence, Stage } from '@baton/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Body, post, type StreamedAnswer, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

/** Each answer takes 1.5 s: a change of the cluster falls into the middle of it. */
const ANSWER = { max_tokens: 100, ignore_eos: true };
const STEPS = [...PLAIN_STEPS, '--inter-token-latency=15'];

describe('a cluster of processes whose engines change', () => {
  /** Of the tests that change its engines one by one; each first brings it to its own shape. */
  let shared: TestCluster;
  let cluster: TestCluster | undefined;

  beforeAll(async () => {
    // Longer than a pause of the machine, in which the test would miss that an engine starts.
    const flags = [...STEPS, '--enable-admin', '--startup-duration=4'];
    shared = await TestCluster.start({ topology: '1P1D', flags });
  });

  afterAll(() => shared.stop());

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  });

  async function start(topology: string, ...flags: string[]): Promise<TestCluster> {
    cluster = await TestCluster.start({
      topology,
      flags: [...STEPS, '--enable-admin', ...flags],
    });
    return cluster;
  }

  /** Lets engines join and leave until each stage has so many, under the placement. */
  async function shape(
    counts: Readonly<Record<'prefill' | 'decode', number>>,
    placement = 'pull',
  ): Promise<TestCluster> {
    const config = await post(`${shared.baseUrl}/admin/config`, { placement });
    expect(config.status).toBe(200);
    for (const role of ['prefill', 'decode'] as const) {
      const there = (await shared.engines()).filter(({ stage }) => stage === role);
      const count = counts[role] - there.length;
      if (count > 0) await admin(shared, 'POST', '', { role, count });
      for (const { engineId } of there.slice(counts[role])) {
        await admin(shared, 'DELETE', `/${engineId}`);
      }
    }
    const ready = (['decode', 'prefill'] as const).flatMap((role) =>
      Array.from({ length: counts[role] }, () => `${role} ready`),
    );
    await untilState(shared, ready.join(', '));
    return shared;
  }

  function load(target: TestCluster, requests: number): Promise<StreamedAnswer[]> {
    const url = `${target.baseUrl}/v1/completions`;
    return Promise.all(
      Array.from({ length: requests }, (_, i) =>
        stream(url, { ...ANSWER, prompt: `Runner ${i} waits for the baton.` }),
      ),
    );
  }

  async function expectWhole(answers: Promise<readonly StreamedAnswer[]>): Promise<void> {
    for (const { error, finishReason, tokenTimesMs } of await answers) {
      expect(error ?? finishReason).toBe('length');
      expect(tokenTimesMs.length).toBeGreaterThan(0);
    }
  }

  async function admin(target: TestCluster, method: string, path: string, body?: Body) {
    const answer = await fetch(`${target.baseUrl}/admin/engines${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: answer.status, body: (await answer.json()) as unknown };
  }

  async function stateOf(target: TestCluster): Promise<string> {
    const engines = await target.engines();
    return engines
      .map(({ stage, state }) => `${stage} ${state}`)
      .sort()
      .join(', ');
  }

  function untilState(target: TestCluster, state: string): Promise<void> {
    const what = `the cluster is: ${state}`;
    return waitUntil(async () => (await stateOf(target)) === state, { what });
  }

  async function firstOf(target: TestCluster, stage: Stage): Promise<EnginePresence> {
    const engine = (await target.engines()).find((each) => each.stage === stage);
    if (engine === undefined) throw new Error(`no ${stage} engine`);
    return engine;
  }

  async function untilRunning(
    target: TestCluster,
    requests: number,
    load: Promise<unknown>,
  ): Promise<void> {
    const runs = async (): Promise<boolean> => (await target.sumOf('running')) >= requests;
    await waitUntil(runs, { what: `${requests} requests run`, during: load });
  }

  it('lets an engine join under load, and gives it no work before it has loaded', async () => {
    const target = await shape({ prefill: 1, decode: 1 });
    const answers = load(target, 40);
    await untilRunning(target, 10, answers);
    const answer = await admin(target, 'POST', '', { role: 'decode', count: 1 });
    expect(answer).toEqual({ status: 202, body: { role: 'decode', joining: 1 } });
    await untilState(target, 'decode ready, decode starting, prefill ready');
    await untilState(target, 'decode ready, decode ready, prefill ready');
    await expectWhole(answers);
    await expectWhole(load(target, 40));
    const decodes = (await target.engines()).filter(({ stage }) => stage === 'decode');
    for (const { counters } of decodes) expect(counters['steps']).toBeGreaterThan(0);
    expect(new Set(decodes.map(({ pid }) => pid)).size).toBe(2);
    await target.untilAtRest();
  });

  it.each(['pull', 'round-robin'])(
    'removes engines under load without loss or replacement, under %s',
    async (placement) => {
      const target = await shape({ prefill: 2, decode: 2 }, placement);
      const said = target.log.length;
      const log = (): string => target.log.slice(said);
      const answers = load(target, 60);
      await untilRunning(target, 20, answers);
      const leaving = [await firstOf(target, 'decode'), await firstOf(target, 'prefill')];
      for (const { engineId: id, name } of leaving) {
        const answer = await admin(target, 'DELETE', `/${id}`);
        expect(answer).toEqual({ status: 202, body: { id, name, state: 'draining' } });
      }
      await expectWhole(answers);
      await untilState(target, 'decode ready, prefill ready');
      await waitUntil(() => log().split('has left the cluster').length === 3, {
        what: 'both processes are gone',
      });
      await expectWhole(load(target, 20));
      expect(log()).not.toContain('starting it again');
      await target.untilAtRest();
    },
  );

  it('changes the role of an engine under load, and keeps the new role after a crash', async () => {
    const target = await shape({ prefill: 2, decode: 1 });
    const answers = load(target, 40);
    await untilRunning(target, 10, answers);
    const { engineId: id, name, pid } = await firstOf(target, 'prefill');
    const answer = await admin(target, 'POST', `/${id}/role`, { role: 'decode' });
    expect(answer.body).toEqual({ id, name, state: 'draining', becomes: 'decode' });
    await expectWhole(answers);
    await untilState(target, 'decode ready, decode ready, prefill ready');
    const changed = (await target.engines()).find((each) => each.pid === pid);
    expect(changed?.stage).toBe('decode');
    await target.untilAtRest();
    process.kill(pid, 'SIGKILL');
    await waitUntil(async () => !(await target.pidsOf('decode')).includes(pid), {
      what: 'the killed engine is gone',
    });
    await untilState(target, 'decode ready, decode ready, prefill ready');
    await expectWhole(load(target, 20));
    await target.untilAtRest();
  });

  it('changes one of two engines in a process, and restarts both after a crash', async () => {
    const target = await start('2P2D', '--engines-per-process=2');
    const { engineId, pid } = await firstOf(target, 'prefill');
    await admin(target, 'POST', `/${engineId}/role`, { role: 'aggregated' });
    await untilState(target, 'aggregated ready, decode ready, decode ready, prefill ready');
    const shared = (await target.engines()).filter((each) => each.pid === pid);
    expect(shared.map(({ stage }) => stage).sort()).toEqual(['aggregated', 'prefill']);
    const answers = load(target, 20);
    await untilRunning(target, 5, answers);
    process.kill(pid, 'SIGKILL');
    await waitUntil(async () => (await target.engines()).every((each) => each.pid !== pid), {
      what: 'the killed process is gone',
    });
    await untilState(target, 'aggregated ready, decode ready, decode ready, prefill ready');
    await expectWhole(answers);
    await expectWhole(load(target, 20));
  });

  it('starts, drains and removes all data-parallel ranks of an engine together', async () => {
    const target = await start('1A', '--data-parallel-size=2', '--startup-duration=1');
    const rank = 'aggregated ready';
    const twoEngines = [rank, rank, rank, rank].join(', ');
    const answers = load(target, 40);
    await untilRunning(target, 10, answers);
    await admin(target, 'POST', '', { role: 'aggregated', count: 1 });
    await untilState(target, twoEngines);
    const pids = (await target.engines()).map(({ pid }) => pid);
    expect(new Set(pids).size).toBe(2);
    expect(pids.filter((pid) => pid === pids[0])).toHaveLength(2);
    const more = load(target, 40);
    await untilRunning(target, 20, more);
    const second = (await target.engines()).find(({ dataParallel }) => dataParallel?.rank === 1)!;
    const { replicaId: id, replicaName: name } = second.dataParallel!;
    const answer = await admin(target, 'DELETE', `/${second.engineId}`);
    expect(answer).toEqual({ status: 202, body: { id, name, state: 'draining' } });
    await expectWhole(answers);
    await expectWhole(more);
    await untilState(target, [rank, rank].join(', '));
    for (const engine of await target.engines()) {
      expect(engine.dataParallel?.replicaId).not.toBe(id);
      expect(engine.pid).not.toBe(second.pid);
    }
    await target.untilAtRest();
  });

  it.each([1, 2])(
    'gives all %i ranks of a joining engine the cache of one that leaves',
    async (size) => {
      const target = await start('1A', '--warm-start=peer', `--data-parallel-size=${size}`);
      const engines = (count: number): string =>
        Array.from({ length: count * size }, () => 'aggregated ready').join(', ');
      const url = `${target.baseUrl}/v1/completions`;
      const prompt = 'What the runner knows goes on to the next one. '.repeat(40);
      const isWarm = async (): Promise<boolean> =>
        (await target.engines()).some(({ gauges }) => (gauges.cachedBlocks ?? 0) > 0);
      await stream(url, { prompt, max_tokens: 1 });
      await waitUntil(isWarm, { what: 'the engine tells of its blocks' });
      const first = await firstOf(target, 'aggregated');
      await admin(target, 'POST', '', { role: 'aggregated', count: 1 });
      await untilState(target, engines(2));
      await admin(target, 'DELETE', `/${first.engineId}`);
      await untilState(target, engines(1));
      const joined = await target.engines();
      for (const { pid, gauges } of joined) {
        expect(pid).not.toBe(first.pid);
        expect(gauges.cachedBlocks).toBeGreaterThan(20);
      }
      await stream(url, { prompt, max_tokens: 1 });
      const taker = async (): Promise<EnginePresence | undefined> =>
        (await target.engines()).find(({ counters }) => counters['prompt_tokens']! > 0);
      await waitUntil(async () => (await taker()) !== undefined, {
        what: 'the engine tells of the prompt',
      });
      expect((await taker())?.counters['prompt_tokens_cached']).toBeGreaterThan(300);
    },
  );

  it('follows a schedule in simulated time', async () => {
    const target = await start(
      ...(['2P1D', '--speedup=10', '--startup-duration=2'] as const),
      // Each state lasts for longer than a pause of the machine, in which the test would miss it.
      '--changes=5s:+1D,100s:1P>D,160s:-2D',
    );
    await untilState(target, 'decode ready, decode ready, prefill ready, prefill ready');
    const answers = load(target, 40);
    await untilState(target, 'decode ready, decode ready, decode ready, prefill ready');
    await untilState(target, 'decode ready, prefill ready');
    await expectWhole(answers);
    const said = (): string[] =>
      [...target.log.matchAll(/\| change (.*)/g)].map(([, change = '']) => change);
    await waitUntil(() => said().length === 3, { what: 'the log has each change' });
    expect(said()).toEqual(['5s:+1D', '100s:1P>D', '160s:-2D']);
  });
});
