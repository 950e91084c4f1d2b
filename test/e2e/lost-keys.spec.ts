import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { PrivateRedis } from '../support/redis-server';
import { waitUntil } from '../support/wait';

const TOKENS = 120;
const LOST_AT_ONCE = 4;
const ROUNDS = 3;

/** Keys that vanish from a shared Redis: evicted, expired, or deleted by an operator. */
describe('a cluster whose keys vanish', () => {
  let server: PrivateRedis;
  let cluster: TestCluster;
  let admin: Redis;

  beforeAll(async () => {
    server = await PrivateRedis.launch();
    admin = new Redis(server.socketPath);
    cluster = await TestCluster.start({ topology: '1P1D', flags: PLAIN_STEPS, redis: server });
  });

  afterAll(async () => {
    await cluster.stop();
    admin.disconnect();
    await server.close();
  });

  const ask = (prompt: string): Promise<StreamedAnswer> =>
    stream(`${cluster.baseUrl}/v1/completions`, { max_tokens: TOKENS, ignore_eos: true, prompt });

  /** Every stream ends, with its tokens or an error, and a later request is answered. */
  async function expectServed(running: readonly Promise<StreamedAnswer>[]): Promise<void> {
    const ends = await Promise.allSettled(running);
    expect(ends).toHaveLength(running.length);
    const isServed = async (): Promise<boolean> =>
      (await ask('later').catch(() => undefined))?.finishReason === 'length';
    await waitUntil(isServed, { what: 'a later request is answered' });
  }

  const load = (): Promise<StreamedAnswer>[] =>
    Array.from({ length: 20 }, (_, i) => ask(`prompt ${i}`));

  async function untilRunning(running: readonly Promise<StreamedAnswer>[]): Promise<void> {
    const run = async (): Promise<boolean> => (await cluster.sumOf('running')) > 0;
    await waitUntil(run, { what: 'requests run', during: Promise.allSettled(running) });
  }

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    'ends every request and serves later ones after random deletions, round %i',
    async () => {
      const running = load();
      await untilRunning(running);
      for (let i = 0; i < LOST_AT_ONCE; i += 1) {
        const key = await admin.randomkey();
        if (key !== null) await admin.del(key);
      }
      await expectServed(running);
    },
  );

  it('ends every request and serves later ones after FLUSHDB', async () => {
    const running = load();
    await untilRunning(running);
    await admin.flushdb();
    await expectServed(running);
  });

  it('serves after every single key was deleted', async () => {
    for (const key of await admin.keys('*')) {
      await admin.del(key);
      await expectServed([]);
    }
  });
});
