import { type EngineJob, type EnginePresence, invalidFieldOf } from '@baton/contract';
import type { Transport } from '@baton/transport';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PrivateRedis } from '../../support/redis-server';
import { waitUntil } from '../../support/wait';
import { job, redisWorld, start, Taking, type World, withAdmin } from './world';

const BEGINS = { stage: 'prefill', engineId: 'engine-a', maxRuns: 3 } as const;

/** Jobs that no API has written, or whose data is gone. */
export function describeBrokenJobs(server: () => PrivateRedis): void {
  describe('a broken job', () => {
    let world: World;
    let a: Transport;
    beforeEach(async () => {
      world = redisWorld(server());
      a = await world.connect();
      await a.presence.announceApi('api-a', 60_000);
    });
    afterEach(() => world.close());

    const key = (part: string): string => `{${world.prefix}}:queue:prefill:${part}`;

    /** Every job that is taken leaves at once. */
    async function takeAll(count: number, begins: typeof BEGINS | undefined): Promise<EngineJob[]> {
      const taking = new Taking(a, 'prefill', {
        ...(begins && { begins }),
        onJob: (taken) => void taken.done(),
      });
      await taking.untilTaken(count);
      const isEmpty = async (): Promise<boolean> =>
        withAdmin(
          server(),
          async (admin) => (await admin.exists(key('wait'), key('active'))) === 0,
        );
      await waitUntil(isEmpty, { what: 'no job is left' });
      expect(taking.lost).toEqual([]);
      await taking.consumer.close();
      return taking.taken.map((taken) => taken.job);
    }

    const breaks: [string, (admin: Redis) => Promise<unknown>][] = [
      ['an id without a job', (admin) => admin.rpush(key('wait'), 'nosuch')],
      ['an id like that of a job', (admin) => admin.rpush(key('wait'), 'nosuch-1')],
      ['a job without its hash', (admin) => admin.del(key('broken-1'))],
      ['a job without data', (admin) => admin.hdel(key('broken-1'), 'data')],
      ['data that is no JSON', (admin) => admin.hset(key('broken-1'), 'data', '{"apiId":"api-a"')],
      ['data that is null', (admin) => admin.hset(key('broken-1'), 'data', 'null')],
      ['data of another program', (admin) => admin.hset(key('broken-1'), 'data', '{"to":"you"}')],
      ['options that are no JSON', (admin) => admin.hset(key('broken-1'), 'opts', '{')],
    ];

    for (const begins of [BEGINS, undefined])
      it.each(breaks)(
        `leaves the queue and keeps no other job: %s, ${begins ? 'with' : 'without'} a run`,
        async (_what, breakIt) => {
          await a.jobs.add('prefill', [job('broken'), job('whole')]);
          await withAdmin(server(), breakIt);
          const taken = await takeAll(2, begins);
          const fields = taken.map(invalidFieldOf);
          expect(fields.filter((field) => field !== undefined)).toHaveLength(1);
          expect(taken.find((_job, i) => fields[i] === undefined)).toMatchObject({ flow: 'route' });
        },
      );

    it('whose data is lost counts as not awaited, so that its API submits it again', async () => {
      await a.jobs.add('prefill', [job('lost')]);
      await withAdmin(server(), (admin) => admin.del(key('lost-1')));
      await takeAll(1, BEGINS);
      const [lost] = await a.ledger.inspect(['lost']);
      expect(lost).toMatchObject({ isAborted: true, result: undefined });
      await a.ledger.resubmit({ requestId: 'lost', submission: 2, apiId: 'api-a' });
      const permit = await a.ledger.begin(start({ requestId: 'lost', submission: 2 }));
      expect(permit.kind).toBe('run');
    });

    it('whose record is a key of another type ends, and no other job with it', async () => {
      const record = `{${world.prefix}}:req:strange`;
      await withAdmin(server(), (admin) => admin.set(record, 'x'));
      await a.jobs.add('prefill', [job('strange'), job('whole')]);
      const taking = new Taking(a, 'prefill', { begins: BEGINS });
      await taking.untilTaken(2);
      const permits = taking.taken.map(({ permit }) => permit);
      expect(permits).toMatchObject([{ kind: 'drop', why: 'aborted' }, { kind: 'run' }]);
      const views = await a.ledger.inspect(['strange', 'whole']);
      expect(views).toMatchObject([
        { isAborted: true, stage: 'finished' },
        { isAborted: false, stage: 'prefill' },
      ]);
    });

    it.each(['engines', 'places'])('is not needed to notice that %s are lost', async (part) => {
      const engine = { engineId: 'engine-a', index: 0, name: 'P0' } as EnginePresence;
      await a.presence.announceEngine(engine, 60_000);
      expect(await a.presence.renewEngine('engine-a', 60_000)).toBe(true);
      await withAdmin(server(), (admin) => admin.del(`{${world.prefix}}:${part}`));
      expect(await a.presence.renewEngine('engine-a', 60_000)).toBe(false);
      await a.presence.announceEngine(engine, 60_000);
      expect(await a.presence.engines()).toMatchObject([engine]);
    });
  });
}
