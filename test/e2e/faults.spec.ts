import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { post, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

const TOKENS = 60;
const BODY = { prompt: 'Anna runs.', max_tokens: TOKENS, ignore_eos: true };

describe('a cluster of processes with injected faults', () => {
  function start(topology: string, ...flags: string[]): Promise<TestCluster> {
    return TestCluster.start({ topology, flags: [...PLAIN_STEPS, '--enable-admin', ...flags] });
  }

  async function set(target: TestCluster, ...faults: object[]): Promise<void> {
    const answer = await post(`${target.baseUrl}/admin/config`, { faults });
    expect(answer.status).toBe(200);
  }

  async function injections(target: TestCluster, fault: string, stage: string): Promise<number> {
    const page = await (await fetch(`${target.baseUrl}/metrics`)).text();
    const series = `baton:faults_injected_total{fault="${fault}",stage="${stage}"} `;
    const line = page.split('\n').find((each) => each.startsWith(series));
    return Number(line?.slice(series.length));
  }

  describe('with two engines of each stage', () => {
    let target: TestCluster;

    beforeAll(async () => {
      target = await start('2P2D');
    });

    afterEach(() => set(target));

    afterAll(() => target.stop());

    it.each(['prefill', 'decode'] as const)(
      'loses no request when a fault kills one %s process',
      async (stage) => {
        const calm = await stream(`${target.baseUrl}/v1/completions`, BODY);
        const before = new Set(await target.pidsOf(stage));
        await set(target, { at: stage, fault: 'kill-process', limit: 1 });
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => stream(`${target.baseUrl}/v1/completions`, BODY)),
        );
        expect(answers.map(({ text }) => text)).toEqual(answers.map(() => calm.text));
        expect(answers.map(({ error }) => error)).toEqual(answers.map(() => undefined));
        expect(await injections(target, 'kill-process', stage)).toBe(1);
        await waitUntil(
          async () => {
            const now = await target.pidsOf(stage);
            return now.length === 2 && now.some((pid) => !before.has(pid));
          },
          { what: 'a new process has replaced the killed one' },
        );
        await target.untilAtRest();
      },
    );
  });

  describe('with one engine of each stage', () => {
    let target: TestCluster;

    beforeAll(async () => {
      target = await start('1P1D', '--dialect=vllm');
    });

    afterEach(() => set(target));

    afterAll(() => target.stop());

    it('ends the requests of an engine that crashes, and starts a new engine', async () => {
      const url = `${target.baseUrl}/v1/completions`;
      await set(target, { at: 'decode', fault: 'crash-engine', after_tokens: 10, every: 5 });
      // The fifth crashes it: on a slow machine too, the first one still runs then.
      const long = { ...BODY, max_tokens: 1_000 };
      const answers = await Promise.all(Array.from({ length: 5 }, () => stream(url, long)));
      expect(answers.map(({ status, error }) => [status, error?.code])).toEqual(
        answers.map(() => [200, 500]),
      );
      expect(answers.every(({ endedWithDone }) => endedWithDone)).toBe(true);
      expect(await injections(target, 'crash-engine', 'decode')).toBe(1);
      expect((await stream(url, BODY)).finishReason).toBe('length');
      await target.untilAtRest();
    });

    it('cuts connections, slows a link down, and recovers when the faults are off', async () => {
      const url = `${target.baseUrl}/v1/completions`;
      await set(target, { at: 'stream', fault: 'cut', after_tokens: 5, header: 'X-Cut: now' });
      const headers = { 'content-type': 'application/json', 'x-cut': 'now' };
      const body = JSON.stringify({ ...BODY, stream: true });
      const cut = await fetch(url, { method: 'POST', headers, body });
      await expect(cut.text()).rejects.toThrow();
      expect(await injections(target, 'cut', 'stream')).toBe(1);
      expect((await stream(url, BODY)).endedWithDone).toBe(true);

      await set(target, { at: 'transfer', fault: 'slow-link', factor: 0.00001 });
      const startMs = performance.now();
      const slow = await stream(url, { ...BODY, prompt: 'Otto sings and sings.' });
      // Some hundred kilobytes at a hundred-thousandth of 50 GB/s.
      expect((slow.tokenTimesMs[0] ?? 0) - startMs).toBeGreaterThan(500);
      expect(slow.finishReason).toBe('length');
      expect(await injections(target, 'slow-link', 'transfer')).toBe(1);

      await set(target);
      expect((await stream(url, BODY)).endedWithDone).toBe(true);
      expect(await injections(target, 'slow-link', 'transfer')).toBe(1);
      await target.untilAtRest();
    });
  });
});
