import { afterEach, describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

/** Each answer takes 1.5 s: several decisions of the autoscaler fall into it. */
const ANSWER = { max_tokens: 100, ignore_eos: true };
const STEPS = [...PLAIN_STEPS, '--inter-token-latency=15'];
const ROUNDS = 5;

describe('a cluster of processes with an autoscaler', () => {
  let cluster: TestCluster | undefined;

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  });

  async function start(autoscaler: string, max: string, ...more: string[]): Promise<TestCluster> {
    const flags = [`--autoscaler=${autoscaler}`, `--max=${max}`, '--scale-interval=1', ...more];
    cluster = await TestCluster.start({ topology: '1P1D', flags: [...STEPS, ...flags] });
    return cluster;
  }

  function load(target: TestCluster, requests: number): Promise<StreamedAnswer[]> {
    const url = `${target.baseUrl}/v1/completions`;
    return Promise.all(
      Array.from({ length: requests }, (_, i) =>
        stream(url, { ...ANSWER, prompt: `Runner ${i} waits for the baton.` }),
      ),
    );
  }

  it.each([1, 2])('loses no request when engines of %s ranks scale at random', async (ranks) => {
    const target = await start('random', '2P3D', `--data-parallel-size=${ranks}`);
    const seen = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await load(target, 20);
      for (const { error, finishReason } of answers) expect(error ?? finishReason).toBe('length');
      for (const { engineId } of await target.engines()) seen.add(engineId);
    }
    const more = async (): Promise<boolean> => {
      for (const { engineId } of await target.engines()) seen.add(engineId);
      return seen.size > 2 * ranks;
    };
    await waitUntil(more, { what: 'an engine joins' });
    const engines = await target.engines();
    for (const [stage, most] of [
      ['prefill', 2],
      ['decode', 3],
    ] as const) {
      const there = engines.filter((engine) => engine.stage === stage);
      expect(there.length).toBeLessThanOrEqual(most * ranks);
      expect(there.length).toBeGreaterThanOrEqual(1);
    }
  });

  it('adds engines by the metrics that the API serves', async () => {
    const target = await start('hpa:rps=0.1:down-window=600s', '1P2D');
    const decodes = async (): Promise<number> =>
      (await target.engines()).filter(({ stage }) => stage === 'decode').length;
    // The load lasts two intervals at least, because a rate needs two scrapes.
    for (let round = 0; round < ROUNDS && (await decodes()) < 2; round += 1) await load(target, 5);
    await waitUntil(async () => (await decodes()) === 2, { what: 'a second decode engine' });
  });
});
