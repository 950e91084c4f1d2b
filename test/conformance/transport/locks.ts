import { DEFAULT_TIMES, type Transport, type TransportTimes } from '@baton/transport';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONG_PAUSE_MS, onTime } from '../../support/on-time';
import { waitUntil } from '../../support/wait';
import { freeze, job, jobs, Taking, type World, type WorldFactory } from './world';

/** @param times of short locks, which the tests let run out */
export function describeLocks(makeWorld: WorldFactory, times: TransportTimes): void {
  const { lockMs } = times;
  describe('locks', () => {
    let world: World;
    let api: Transport;
    beforeEach(async () => {
      world = makeWorld(times);
      api = await world.connect();
    });
    afterEach(() => world.close());

    it('keep a job with a living worker for several times their duration', async () => {
      const taking = new Taking(await world.connect(), 'prefill', { room: 1 });
      await api.jobs.add('prefill', [job('long')]);
      await taking.untilTaken(1);
      const other = new Taking(await world.connect(), 'prefill');
      const endMs = performance.now() + 3 * lockMs;
      await waitUntil(() => performance.now() > endMs, { what: 'three lock durations are over' });
      expect(other.taken).toEqual([]);
      expect(taking.lost).toEqual([]);
      expect(await taking.first().done()).toBe(true);
    });

    it('release the jobs of a dead worker to another', async () => {
      const dying = await world.connect();
      const dead = new Taking(dying, 'prefill', { room: 3 });
      await api.jobs.add('prefill', jobs(3));
      await dead.untilTaken(3);
      await dying.close();
      const heir = new Taking(await world.connect(), 'prefill');
      await heir.untilTaken(3);
      expect(heir.ids.sort()).toEqual(['r0', 'r1', 'r2']);
      expect(await heir.first().done()).toBe(true);
    });

    it('that ran out let the placed jobs of a dead engine be reclaimed', async () => {
      const dying = await world.connect();
      const dead = new Taking(dying, 'engine:dead', { room: 2 });
      await api.jobs.add('engine:dead', jobs(3, { placed: { stage: 'decode' } }));
      await dead.untilTaken(2);
      const early = await api.jobs.reclaim('engine:dead');
      expect(early.map(({ requestId }) => requestId)).toEqual(['r2']);
      await dying.close();
      const late: string[] = [];
      await waitUntil(
        async () => {
          for (const { requestId } of await api.jobs.reclaim('engine:dead')) late.push(requestId);
          return late.length >= 2;
        },
        { what: 'the held jobs are reclaimed' },
      );
      expect(late.sort()).toEqual(['r0', 'r1']);
      expect(await api.jobs.waiting('engine:dead')).toBe(0);
    });

    it('of an ended process are released at once, however long they are', async () => {
      const dying = await world.connect();
      const dead = new Taking(dying, 'decode', { room: 2 });
      await api.jobs.add('decode', [...jobs(1), job('later', { priority: 3 })]);
      await dead.untilTaken(2);
      await dying.close();
      const [host, pid] = [hostname(), process.pid];
      await api.jobs.release('decode', { host, pid: pid + 1 });
      expect(await api.jobs.waiting('decode')).toBe(0);
      await api.jobs.release('decode', { host, pid });
      expect(await api.jobs.waiting('decode')).toBe(2);
    });

    it('of a process that was frozen stay with it when no other worker has taken the job', async () => {
      const frozen = new Taking(await world.connect(), 'prefill', { room: 2 });
      await api.jobs.add('prefill', jobs(2));
      await frozen.untilTaken(2);
      freeze(1.5 * lockMs);
      const endMs = performance.now() + lockMs;
      await waitUntil(() => performance.now() > endMs, { what: 'a lock duration is over' });
      expect(frozen.lost).toEqual([]);
      for (const taken of frozen.taken) expect(await taken.done()).toBe(true);
    });
  });

  it('give the jobs of a killed worker to another within 3 s at the default times', () =>
    onTime(5, async () => {
      const { lockMs, lockRenewMs, stalledCheckMs } = DEFAULT_TIMES;
      const world = makeWorld({ lockMs, lockRenewMs, stalledCheckMs });
      const api = await world.connect();
      const dying = await world.connect();
      const dead = new Taking(dying, 'decode', { room: 2 });
      await api.jobs.add('decode', jobs(2));
      await dead.untilTaken(2);
      const heir = new Taking(await world.connect(), 'decode');
      await dying.close();
      const diedMs = performance.now();
      let silentMs = 0;
      const isTaken = async (): Promise<boolean> => {
        const askedMs = performance.now();
        await api.jobs.waiting('decode');
        silentMs = Math.max(silentMs, performance.now() - askedMs);
        return heir.taken.length >= 2;
      };
      await waitUntil(isTaken, { what: 'the jobs are taken' });
      const tookMs = performance.now() - diedMs;
      expect(heir.ids.sort()).toEqual(['r0', 'r1']);
      await world.close();
      const wasSilent = `the broker did not answer for ${silentMs.toFixed(0)} ms`;
      return {
        check: () => expect(tookMs).toBeLessThan(3_000),
        void: silentMs > LONG_PAUSE_MS ? wasSilent : null,
      };
    }));
}
