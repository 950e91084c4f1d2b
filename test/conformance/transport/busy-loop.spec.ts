import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Transport, TransportTimes } from '@baton/transport';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PrivateRedis } from '../../support/redis-server';
import { waitUntil } from '../../support/wait';
import { engine } from './presence';
import { job, redisWorld, Taking, type World, withAdmin } from './world';

const BUSY_WORKER = fileURLToPath(new URL('../../support/busy-worker.cjs', import.meta.url));

/**
 * The loop belongs to another process, because a busy event loop here would block this test as
 * well. It waits for most of its time, so it is a file beside the rest of the contract.
 */
describe('a worker whose event loop is busy', () => {
  let server: PrivateRedis;
  let world: World;
  let observer: Transport;
  let worker: ChildProcess;
  beforeAll(async () => {
    server = await PrivateRedis.launch();
  });
  afterAll(() => server.close());

  beforeEach(async () => {
    world = redisWorld(server, { stalledCheckMs: 50 });
    observer = await world.connect();
  });
  afterEach(async () => {
    worker.kill('SIGKILL');
    await world.close();
  });

  /** Resolves when the worker holds the job and can lose it to another one. */
  async function start(presenceMs: number, times: Partial<TransportTimes>): Promise<Taking> {
    const place = { url: server.url, prefix: world.prefix, engine: engine('busy', 0) };
    worker = fork(BUSY_WORKER, [JSON.stringify({ ...place, presenceMs, times })]);
    const taken = once(worker, 'message');
    await observer.jobs.add('prefill', [job('r')]);
    expect((await taken)[0]).toEqual({ kind: 'taken' });
    await waitUntil(() => hasStandby(server), { what: 'its standby thread is connected' });
    expect(await isSeen(observer)).toBe(true);
    return new Taking(observer, 'prefill');
  }

  it('keeps its job and its presence for many times their duration', async () => {
    // The standby thread must run within half of it, also on a machine with other work.
    const heldMs = 6_000;
    const heir = await start(heldMs, { lockMs: heldMs, lockRenewMs: heldMs / 10 });
    let ending: unknown;
    worker.once('message', (message) => (ending = message));
    worker.send({ busyMs: 3.5 * heldMs });
    let timesSeen = 0;
    const isOver = async (): Promise<boolean> => {
      expect(await isSeen(observer)).toBe(true);
      timesSeen += 1;
      return ending !== undefined;
    };
    await waitUntil(isOver, { what: 'its event loop is free again' });
    expect(timesSeen).toBeGreaterThan(10);
    expect(ending).toEqual({ kind: 'ended', isDone: true, lost: 0 });
    expect(heir.taken).toEqual([]);
  });

  it('loses both when it is busy for longer than the longest lock', async () => {
    const times = { lockMs: 500, lockRenewMs: 100, lockCeilingMs: 1_500 };
    // It is seen once before; a stall of the machine then is shorter.
    const heir = await start(4_000, times);
    worker.send({ busyMs: 600_000 });
    await heir.untilTaken(1);
    await waitUntil(async () => !(await isSeen(observer)), { what: 'its presence runs out' });
    expect(await heir.first().done()).toBe(true);
  });
});

/** True when both the engine and the API process count as alive, false when neither does. */
async function isSeen({ presence }: Transport): Promise<boolean> {
  const [engines, [isApiAlive]] = [
    await presence.engines(),
    await presence.aliveApis(['api-busy']),
  ];
  return engines.length === 1 && isApiAlive === true;
}

async function hasStandby(server: PrivateRedis): Promise<boolean> {
  const clients = await withAdmin(server, (admin) => admin.client('LIST'));
  return String(clients).includes('name=baton-standby');
}
