import { afterEach, describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

/**
 * A step takes 150 ms and holds few prompts, so that a burst waits in the queues of the engines.
 */
const SLOW_PREFILL = [
  '--step-time=constant',
  '--time-to-first-token=150',
  '--inter-token-latency=2',
  '--max-num-batched-tokens=64',
  '--max-num-seqs=64',
] as const;

describe('a cluster of processes that places jobs', () => {
  let cluster: TestCluster | undefined;

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  });

  async function start(...flags: string[]): Promise<TestCluster> {
    cluster = await TestCluster.start({ topology: '2P2D', flags: [...SLOW_PREFILL, ...flags] });
    return cluster;
  }

  function load(target: TestCluster, requests: number): Promise<StreamedAnswer>[] {
    return Array.from({ length: requests }, (_, i) =>
      stream(`${target.baseUrl}/v1/completions`, {
        ...{ max_tokens: 10, ignore_eos: true },
        prompt: `Request number ${i} asks for a short story about runner ${i % 7}.`,
      }),
    );
  }

  async function metric(target: TestCluster, name: string): Promise<number> {
    const page = await (await fetch(`${target.baseUrl}/metrics`)).text();
    const lines = page.split('\n').filter((line) => line.split(/[{ ]/)[0] === name);
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  function expectWhole(answers: readonly StreamedAnswer[]): void {
    const ends = answers.map(({ error, finishReason }) => error ?? finishReason);
    expect(ends).toEqual(answers.map(() => 'length'));
  }

  it.each(['late', 'early'])('serves a burst with decode chosen %s', async (choice) => {
    const target = await start('--placement=prefix-aware', `--decode-choice=${choice}`);
    expectWhole(await Promise.all(load(target, 60)));
    await waitUntil(async () => (await metric(target, 'baton:placement_decisions_total')) > 0, {
      what: 'decisions are counted',
    });
    await target.untilAtRest();
  });

  it.each(['prefill', 'decode'] as const)(
    'moves the jobs of a killed %s engine to others, and loses no request',
    async (stage) => {
      const target = await start('--placement=round-robin', '--decode-choice=early');
      await waitUntil(() => isPlacing(target), { what: 'jobs are placed' });
      const answers = load(target, 60);
      await waitUntil(async () => (await target.sumOf('running')) > 0, { what: 'requests run' });
      const [pid = 0] = await target.pidsOf(stage);
      process.kill(pid, 'SIGKILL');
      expectWhole(await Promise.all(answers));
      expect(await metric(target, 'baton:rehomed_jobs_total')).toBeGreaterThan(0);
      await target.untilAtRest();
    },
  );

  async function isPlacing(target: TestCluster): Promise<boolean> {
    expectWhole(await Promise.all(load(target, 1)));
    return (await metric(target, 'baton:placement_decisions_total')) > 0;
  }
});
