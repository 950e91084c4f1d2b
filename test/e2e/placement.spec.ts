import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Body, post, type StreamedAnswer, stream } from '../support/client';
import { TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

/**
 * A step takes 500 ms and holds few prompts, so that a burst waits in the queues of the engines,
 * and for longer than a pause of the machine.
 */
const SLOW_PREFILL = [
  '--step-time=constant',
  '--time-to-first-token=500',
  '--inter-token-latency=2',
  '--max-num-batched-tokens=64',
  '--max-num-seqs=64',
] as const;

describe('a cluster of processes that places jobs', () => {
  let target: TestCluster;

  beforeAll(async () => {
    target = await TestCluster.start({
      topology: '2P2D',
      flags: [...SLOW_PREFILL, '--enable-admin'],
    });
  });

  /** A killed engine is back before the next test. */
  afterEach(() => target.untilWorkers({ prefill: 2, decode: 2 }));

  afterAll(() => target.stop());

  async function set(settings: Body): Promise<void> {
    expect((await post(`${target.baseUrl}/admin/config`, settings)).status).toBe(200);
  }

  function load(requests: number): Promise<StreamedAnswer>[] {
    return Array.from({ length: requests }, (_, i) =>
      stream(`${target.baseUrl}/v1/completions`, {
        max_tokens: 10,
        ignore_eos: true,
        prompt: `Request number ${i} asks for a short story about runner ${i % 7}.`,
      }),
    );
  }

  async function metric(name: string): Promise<number> {
    const page = await (await fetch(`${target.baseUrl}/metrics`)).text();
    const lines = page.split('\n').filter((line) => line.split(/[{ ]/)[0] === name);
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  function expectWhole(answers: readonly StreamedAnswer[]): void {
    const ends = answers.map(({ error, finishReason }) => error ?? finishReason);
    expect(ends).toEqual(answers.map(() => 'length'));
  }

  it.each(['late', 'early'])('serves a burst with decode chosen %s', async (choice) => {
    const before = await metric('baton:placement_decisions_total');
    await set({ placement: 'prefix-aware', decode_choice: choice });
    expectWhole(await Promise.all(load(60)));
    await waitUntil(async () => (await metric('baton:placement_decisions_total')) > before, {
      what: 'decisions are counted',
    });
    await target.untilAtRest();
  });

  it.each(['prefill', 'decode'] as const)(
    'moves the jobs of a killed %s engine to others, and loses no request',
    async (stage) => {
      await set({ placement: 'round-robin', decode_choice: 'early' });
      await untilPlacing();
      const rehomed = await metric('baton:rehomed_jobs_total');
      const answers = load(60);
      await waitUntil(async () => (await target.sumOf('running')) > 0, { what: 'requests run' });
      const [pid = 0] = await target.pidsOf(stage);
      process.kill(pid, 'SIGKILL');
      expectWhole(await Promise.all(answers));
      expect(await metric('baton:rehomed_jobs_total')).toBeGreaterThan(rehomed);
      await target.untilAtRest();
    },
  );

  async function untilPlacing(): Promise<void> {
    const before = await metric('baton:placement_decisions_total');
    const isPlacing = async (): Promise<boolean> => {
      expectWhole(await Promise.all(load(1)));
      return (await metric('baton:placement_decisions_total')) > before;
    };
    await waitUntil(isPlacing, { what: 'jobs are placed' });
  }
});
