import { setTimeout as pause } from 'node:timers/promises';
import type { Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import { job, jobs, Taking, type World, type WorldFactory } from './world';

/** How long a consumer over Redis waits for a job at once. */
const WAIT_MS = 20_000;

export function describeQueues(makeWorld: WorldFactory): void {
  describe('queues', () => {
    let world: World;
    let api: Transport;
    let worker: Transport;
    beforeEach(async () => {
      world = makeWorld();
      api = await world.connect();
      worker = await world.connect();
    });
    afterEach(() => world.close());

    it('delivers a job unchanged', async () => {
      const sent = job('whole', { kvTransferParams: undefined as never, traceparent: '00-a-b-01' });
      await api.jobs.add('prefill', [sent]);
      const taking = new Taking(worker, 'prefill');
      await taking.untilTaken(1);
      expect(taking.first().job).toEqual(JSON.parse(JSON.stringify(sent)));
    });

    it('delivers jobs in the order of adding', async () => {
      const taking = new Taking(worker, 'prefill');
      await api.jobs.add('prefill', jobs(40));
      await taking.untilTaken(40);
      expect(taking.ids).toEqual(jobs(40).map(({ requestId }) => requestId));
    });

    it('delivers lower priorities first', async () => {
      await api.jobs.add('prefill', [
        job('late', { priority: 9 }),
        job('normal'),
        job('middle', { priority: 2 }),
        job('urgent', { priority: -1 }),
      ]);
      const taking = new Taking(worker, 'prefill');
      await taking.untilTaken(4);
      expect(taking.ids).toEqual(['urgent', 'normal', 'middle', 'late']);
    });

    it('does not add a job that is queued or running under the same id', async () => {
      await api.jobs.add('prefill', [job('twice'), job('twice')]);
      const taking = new Taking(worker, 'prefill');
      await taking.untilTaken(1);
      await api.jobs.add('prefill', [job('twice'), job('twice', { submission: 2 }), job('end')]);
      await taking.untilTaken(3);
      expect(
        taking.taken.map(({ job: { requestId, submission } }) => [requestId, submission]),
      ).toEqual([
        ['twice', 1],
        ['twice', 2],
        ['end', 1],
      ]);
    });

    it('accepts a job again once it is done', async () => {
      const taking = new Taking(worker, 'prefill', { onJob: (taken) => void taken.done() });
      await api.jobs.add('prefill', [job('again')]);
      await taking.untilTaken(1);
      await waitUntil(
        async () => {
          await api.jobs.add('prefill', [job('again')]);
          return taking.taken.length === 2;
        },
        { what: 'the job is taken again' },
      );
    });

    it('accepts request ids with colons and percent signs, and keeps them apart', async () => {
      await api.jobs.add('prefill', [job('a:b'), job('a%3Ab'), job('17')]);
      const taking = new Taking(worker, 'prefill');
      await taking.untilTaken(3);
      expect(taking.ids).toEqual(['a:b', 'a%3Ab', '17']);
    });

    it('keeps queues apart, also those of engines', async () => {
      await api.jobs.add('decode', [job('for-decode')]);
      await api.jobs.add('engine:e:1', [job('for-engine')]);
      const decode = new Taking(worker, 'decode');
      const engine = new Taking(worker, 'engine:e:1');
      await Promise.all([decode.untilTaken(1), engine.untilTaken(1)]);
      expect([decode.ids, engine.ids]).toEqual([['for-decode'], ['for-engine']]);
    });

    it('takes jobs within its room, and more after wake', async () => {
      const taking = new Taking(worker, 'prefill', { room: 2 });
      await api.jobs.add('prefill', jobs(5));
      await taking.untilTaken(2);
      await waitUntil(async () => (await api.jobs.waiting('prefill')) === 3, { what: '3 wait' });
      taking.room = 1;
      taking.consumer.wake();
      await taking.untilTaken(3);
      expect(await api.jobs.waiting('prefill')).toBe(2);
    });

    it('checks its room again when a job is done', async () => {
      const taking = new Taking(worker, 'prefill', { room: 1 });
      await api.jobs.add('prefill', jobs(2));
      await taking.untilTaken(1);
      taking.room = 1;
      expect(await taking.first().done()).toBe(true);
      await taking.untilTaken(2);
    });

    it('leaves a job to others when room has gone while it waited for one', async () => {
      const first = new Taking(worker, 'prefill', { room: 1 });
      await api.jobs.add('prefill', [job('warm-up')]);
      await first.untilTaken(1);
      first.room = 1;
      first.consumer.wake();
      first.room = 0;
      const second = new Taking(await world.connect(), 'prefill');
      await api.jobs.add('prefill', [job('other')]);
      await second.untilTaken(1);
      expect([first.ids, second.ids]).toEqual([['warm-up'], ['other']]);
    });

    it('gives every job to exactly one of several workers', async () => {
      const takings = await Promise.all(
        [1, 2, 3].map(async () => new Taking(await world.connect(), 'prefill')),
      );
      await api.jobs.add('prefill', jobs(60));
      await waitUntil(() => takings.flatMap(({ ids }) => ids).length >= 60, { what: 'all taken' });
      const all = takings.flatMap(({ ids }) => ids);
      expect(all).toHaveLength(60);
      expect(new Set(all).size).toBe(60);
    });

    it('gives a job to an idle worker before a busy one, in any order of takes', async () => {
      const idle = new Taking(worker, 'prefill', { isIdle: true });
      const busy = [new Taking(await world.connect(), 'prefill'), new Taking(worker, 'prefill')];
      const taken = (): number => [idle, ...busy].flatMap(({ ids }) => ids).length;
      let inARow = 0;
      for (let i = 0; i < 40 && inARow < 4; i++) {
        const before = idle.taken.length;
        await api.jobs.add('prefill', [job(`r${i}`)]);
        await waitUntil(() => taken() > i, { what: 'it is taken' });
        inARow = idle.taken.length > before ? inARow + 1 : 0;
      }
      expect(inARow).toBe(4);
    });

    it('gives a job to a busy worker when the idle one does not take it', async () => {
      const idle = new Taking(await world.connect(), 'prefill', { isIdle: true });
      await api.jobs.add('prefill', [job('warm-up')]);
      await idle.untilTaken(1);
      const busy = new Taking(worker, 'prefill');
      idle.consumer.pause();
      await api.jobs.add('prefill', jobs(2));
      await busy.untilTaken(2);
      expect(idle.ids).toEqual(['warm-up']);
    });

    it('puts a returned job in front', async () => {
      const draining = new Taking(worker, 'prefill', { room: 1 });
      await api.jobs.add('prefill', jobs(3));
      await draining.untilTaken(1);
      draining.consumer.pause();
      await draining.first().giveBack();
      const other = new Taking(await world.connect(), 'prefill');
      await other.untilTaken(3);
      expect(other.ids).toEqual(['r0', 'r1', 'r2']);
      expect(await draining.first().done()).toBe(false);
    });

    it('takes nothing after pause', async () => {
      const paused = new Taking(worker, 'prefill');
      paused.consumer.pause();
      await api.jobs.add('prefill', jobs(2));
      const other = new Taking(await world.connect(), 'prefill');
      await other.untilTaken(2);
      expect(paused.taken).toEqual([]);
    });

    it('counts waiting jobs, not taken ones', async () => {
      await api.jobs.add('prefill', [...jobs(3), job('later', { priority: 5 })]);
      expect(await api.jobs.waiting('prefill')).toBe(4);
      const taking = new Taking(worker, 'prefill', { room: 1 });
      await taking.untilTaken(1);
      expect(await api.jobs.waiting('prefill')).toBe(3);
      expect(await api.jobs.waiting('decode')).toBe(0);
    });

    it('ends the queue of a lost engine and delivers its jobs once', async () => {
      const engine = new Taking(worker, 'engine:lost', { room: 1 });
      await api.jobs.add('engine:lost', [...jobs(2), job('r2', { priority: 3 })]);
      await engine.untilTaken(1);
      const [one, two] = await Promise.all([
        api.jobs.abandon('engine:lost'),
        worker.jobs.abandon('engine:lost'),
      ]);
      const all = [...one, ...two].map(({ requestId }) => requestId);
      expect(all.sort()).toEqual(['r0', 'r1', 'r2']);
      expect(await engine.first().done()).toBe(false);
      expect(await api.jobs.waiting('engine:lost')).toBe(0);
    });

    it('reclaims waiting jobs of an engine, and leaves the taken ones to it', async () => {
      const queue = 'engine:slow';
      const placed = { placed: { stage: 'prefill' as const } };
      const engine = new Taking(worker, queue, { room: 1 });
      await api.jobs.add(queue, jobs(3, placed));
      await api.jobs.add(queue, [job('for-it-alone'), job('later', { ...placed, priority: 3 })]);
      await engine.untilTaken(1);
      const [one, two] = await Promise.all([api.jobs.reclaim(queue), worker.jobs.reclaim(queue)]);
      const reclaimed = [...one, ...two].map(({ requestId }) => requestId);
      expect(reclaimed.sort()).toEqual(['later', 'r1', 'r2']);
      expect(await engine.first().done()).toBe(true);
      engine.room = 5;
      engine.consumer.wake();
      await engine.untilTaken(2);
      expect(engine.ids).toEqual(['r0', 'for-it-alone']);
      expect(await api.jobs.reclaim(queue)).toEqual([]);
      expect(await api.jobs.waiting(queue)).toBe(0);
    });

    it('delivers a job again that was reclaimed and put back', async () => {
      const placed = job('again', { placed: { stage: 'decode' } });
      await api.jobs.add('engine:e', [placed]);
      await api.jobs.add('engine:e', await api.jobs.reclaim('engine:e'));
      const engine = new Taking(worker, 'engine:e');
      await engine.untilTaken(1);
      expect(engine.first().job).toEqual(placed);
      expect(await engine.first().done()).toBe(true);
    });

    it('closes a consumer before its wait for a job ends', async () => {
      const taking = new Taking(worker, 'prefill');
      await api.jobs.add('prefill', [job('one')]);
      await taking.untilTaken(1);
      await world.untilWaiting('prefill', 0, 1);
      const closed = taking.consumer.close().then(() => 'closed');
      const first = await Promise.race([closed, pause(WAIT_MS, 'waited', { ref: false })]);
      expect(first).toBe('closed');
    });
  });
}
