import { packEpoch } from '@baton/contract';
import type { HandOver, Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handoff, job, start, Taking, type World, type WorldFactory } from './world';

const RESULT = { reason: 'stop', tokens: 1 } as const;

/** The combined steps of a job and the ledger. */
export function describeSteps(makeWorld: WorldFactory): void {
  describe('steps of a job with the ledger', () => {
    let world: World;
    let a: Transport;
    beforeEach(async () => {
      world = makeWorld();
      a = await world.connect();
      await a.presence.announceApi('api-a', 60_000);
    });
    afterEach(() => world.close());

    async function taken(): Promise<{ readonly taking: Taking; readonly epoch: number }> {
      const taking = new Taking(a, 'prefill', { room: 1 });
      await a.jobs.add('prefill', [job('r')]);
      await taking.untilTaken(1);
      const permit = await a.ledger.begin(start());
      return { taking, epoch: permit.kind === 'run' ? permit.epoch : 0 };
    }

    function over(epoch: number, leaves = true): HandOver {
      const next = { queue: 'decode', job: job('r') } as const;
      return { epoch, handoff: handoff(epoch), next, leaves };
    }

    it('hand a request over: its record, its job for decode, and no prefill job', async () => {
      const { taking, epoch } = await taken();
      expect(await taking.first().handOver(over(epoch))).toBe(true);
      const decode = new Taking(a, 'decode');
      await decode.untilTaken(1);
      expect(await a.ledger.begin(start({ stage: 'decode' }))).toMatchObject({
        kind: 'run',
        handoff: handoff(epoch),
      });
      await a.jobs.add('prefill', [job('r')]);
      taking.room = 1;
      taking.consumer.wake();
      await taking.untilTaken(2);
    });

    it('hand nothing over from a fenced run, and still remove its job', async () => {
      const { taking, epoch } = await taken();
      await a.ledger.begin(start());
      expect(await taking.first().handOver(over(epoch))).toBe(false);
      expect(await a.jobs.waiting('decode')).toBe(0);
      expect(await taking.first().done()).toBe(false);
      await a.jobs.add('prefill', [job('r')]);
      taking.room = 1;
      taking.consumer.wake();
      await taking.untilTaken(2);
    });

    it('keep the own job of a hand-over that does not end it', async () => {
      const { taking, epoch } = await taken();
      expect(await taking.first().handOver(over(epoch, false))).toBe(true);
      expect(await a.jobs.waiting('decode')).toBe(1);
      expect(await taking.first().done()).toBe(true);
    });

    it('finish a request once, and its job with it', async () => {
      const { taking, epoch } = await taken();
      expect(await taking.first().finishJob({ epoch, result: RESULT })).toBe(true);
      expect(await taking.first().done()).toBe(false);
      expect(await taking.first().finishJob({ epoch, result: RESULT })).toBe(false);
      const [view] = await a.ledger.inspect(['r']);
      expect(view).toMatchObject({ stage: 'finished', epoch: packEpoch(1, 1), result: RESULT });
    });

    it('begin the run of each job that is taken', async () => {
      const ids = ['r', 'a:b%c', 'x-1', 'y'];
      await a.jobs.add('prefill', [...ids.map((id) => job(id)), job('r5', { submission: 2 })]);
      const begins = { stage: 'prefill', engineId: 'engine-a', maxRuns: 3 } as const;
      const taking = new Taking(a, 'prefill', { begins });
      await taking.untilTaken(5);
      expect(taking.taken.map(({ permit }) => permit)).toMatchObject([
        ...ids.map(() => ({ kind: 'run', epoch: packEpoch(1, 1) })),
        { kind: 'run', epoch: packEpoch(2, 1) },
      ]);
      const views = await a.ledger.inspect([...ids, 'r5']);
      expect(views.map((view) => [view?.stage, view?.engineId, view?.isApiAlive])).toEqual(
        views.map(() => ['prefill', 'engine-a', true]),
      );
    });

    it('bring the reason with a job whose run may not begin', async () => {
      await a.ledger.abort(['r']);
      await a.jobs.add('prefill', [job('r'), job('lonely', { apiId: 'api-gone' })]);
      const begins = { stage: 'prefill', engineId: 'engine-a', maxRuns: 3 } as const;
      const taking = new Taking(a, 'prefill', { begins });
      await taking.untilTaken(2);
      expect(taking.taken.map(({ permit }) => permit)).toEqual([
        { kind: 'drop', why: 'aborted' },
        { kind: 'drop', why: 'not-awaited' },
      ]);
    });

    it('give the hand-over record to the run that decode begins with its take', async () => {
      const { taking, epoch } = await taken();
      await taking.first().handOver(over(epoch));
      const begins = { stage: 'decode', engineId: 'engine-d', maxRuns: 3 } as const;
      const decode = new Taking(a, 'decode', { begins });
      await decode.untilTaken(1);
      expect(decode.first().permit).toEqual({
        kind: 'run',
        epoch: packEpoch(1, 2),
        handoff: handoff(epoch),
      });
    });

    it('of many jobs in one turn each have their own answer and effect', async () => {
      const ids = Array.from({ length: 40 }, (_, i) => `r${i}`);
      await a.jobs.add(
        'prefill',
        ids.map((id, i) => job(id, { streamId: i, priority: i % 3 })),
      );
      const begins = { stage: 'prefill', engineId: 'engine-a', maxRuns: 3 } as const;
      const taking = new Taking(a, 'prefill', { begins });
      await taking.untilTaken(ids.length);
      const isAborted = (id: string): boolean => id.endsWith('3');
      await a.ledger.abort(ids.filter(isAborted));
      const epoch = packEpoch(1, 1);
      const answers = await Promise.all(
        taking.taken.map((held) => {
          const next = { queue: 'decode', job: held.job } as const;
          return held.handOver({ epoch, handoff: handoff(epoch), next, leaves: true });
        }),
      );
      expect(answers).toEqual(taking.ids.map((id) => !isAborted(id)));
      const going = ids.filter((id) => !isAborted(id));
      const decode = new Taking(a, 'decode', { begins: { ...begins, stage: 'decode' } });
      await decode.untilTaken(going.length);
      const sorted = [...decode.taken].sort((one, other) => one.job.streamId - other.job.streamId);
      expect(sorted.map(({ job: { requestId } }) => requestId)).toEqual(going);
      expect(sorted.map(({ job: { streamId } }) => streamId)).toEqual(
        going.map((id) => Number(id.slice(1))),
      );
      const results = going.map((_, i) => ({ reason: 'stop', tokens: i }) as const);
      const ends = sorted.map((held, i) =>
        held.finishJob({ epoch: packEpoch(1, i === 5 ? 9 : 2), result: results[i]! }),
      );
      expect(await Promise.all(ends)).toEqual(going.map((_, i) => i !== 5));
      const views = await a.ledger.inspect(going);
      expect(views.map((view) => view?.result)).toEqual(
        results.map((result, i) => (i === 5 ? undefined : result)),
      );
      expect(await a.jobs.waiting('decode')).toBe(0);
    });

    it('change nothing while there is no broker', async () => {
      const { taking, epoch } = await taken();
      await world.kill();
      await expect(taking.first().finishJob({ epoch, result: RESULT })).rejects.toThrow();
      await expect(taking.first().handOver(over(epoch))).rejects.toThrow();
      await world.restart();
    });
  });
}
