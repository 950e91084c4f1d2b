import { packEpoch } from '@baton/contract';
import type { TakenJob, Transport } from '@baton/transport';
import { type JobType, Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PrivateRedis } from '../../support/redis-server';
import { waitUntil } from '../../support/wait';
import { handoff, job, jobs, redisWorld, start, Taking, type World, withAdmin } from './world';

/** No lock is renewed and no queue is searched for stalled jobs within a test. */
const RARE_SCRIPTS = { lockMs: 600_000, lockRenewMs: 600_000, stalledCheckMs: 600_000 };

/** A request as BullMQ's own tools show it, and its cost in commands of the server. */
export function describeBullTools(server: () => PrivateRedis): void {
  describe("BullMQ's own tools", () => {
    let world: World;
    let a: Transport;
    const tools: Queue[] = [];
    beforeEach(async () => {
      world = redisWorld(server(), RARE_SCRIPTS);
      a = await world.connect();
      await a.presence.announceApi('api-a', 60_000);
    });
    afterEach(async () => {
      await Promise.all(tools.splice(0).map((tool) => tool.close()));
      await world.close();
    });

    function toolOf(queue: string): Queue {
      const connection = { path: server().url.replace(/^unix:/, '') };
      const tool = new Queue(queue, { connection, prefix: `{${world.prefix}}:queue` });
      tools.push(tool);
      return tool;
    }

    it('see the job of each stage wait, run and go', async () => {
      const [prefill, decode] = [toolOf('prefill'), toolOf('decode')];
      const states = (): Promise<Record<string, number>[]> =>
        Promise.all([prefill, decode].map((tool) => tool.getJobCounts('waiting', 'active')));
      await a.jobs.add('prefill', [job('r')]);
      expect(await states()).toMatchObject([
        { waiting: 1, active: 0 },
        { waiting: 0, active: 0 },
      ]);
      const first = new Taking(a, 'prefill');
      await first.untilTaken(1);
      expect(await states()).toMatchObject([{ active: 1 }, { waiting: 0 }]);
      const begun = await a.ledger.begin(start());
      const epoch = begun.kind === 'run' ? begun.epoch : 0;
      const next = { queue: 'decode', job: job('r', { outputTokens: 7 }) } as const;
      await first.first().handOver({ epoch, handoff: handoff(epoch), next, leaves: true });
      expect(await states()).toMatchObject([{ active: 0 }, { waiting: 1 }]);
      const [waiting] = await decode.getJobs(['waiting' satisfies JobType]);
      expect(waiting).toMatchObject({ id: 'r-1', name: 'run', data: { outputTokens: 7 } });
      const second = new Taking(a, 'decode');
      await second.untilTaken(1);
      expect(await (await decode.getJob('r-1'))?.getState()).toBe('active');
      await a.ledger.begin(start({ stage: 'decode' }));
      await second.first().finishJob({ epoch, result: { reason: 'stop', tokens: 1 } });
      await waitUntil(async () => (await decode.getJob('r-1')) === undefined, {
        what: 'it is gone',
      });
    });

    /** Scripts that `act` runs: those of this world without the heartbeat of its link. */
    function scriptsOf(act: () => Promise<unknown>): Promise<number> {
      return withAdmin(server(), async (admin) => {
        const monitor = await admin.monitor();
        const calls: string[][] = [];
        monitor.on('monitor', (_time: string, call: string[]) => calls.push(call));
        await act();
        await admin.echo('over');
        await waitUntil(() => calls.some(([, text]) => text === 'over'), { what: 'all are seen' });
        monitor.disconnect();
        const key = (name: string): string => `{${world.prefix}}:${name}`;
        const ours = calls.filter(
          (call) =>
            call[0]?.toLowerCase() === 'evalsha' &&
            call.some((word) => word.startsWith(key(''))) &&
            !call.includes(key('engines')),
        );
        return ours.length;
      });
    }

    function handedOver(taken: TakenJob, epoch: number): Promise<boolean> {
      const next = { queue: 'decode', job: taken.job } as const;
      return taken.handOver({ epoch, handoff: handoff(epoch), next, leaves: true });
    }

    it('leave a step of the ledger with a job one script', async () => {
      const taking = new Taking(a, 'prefill');
      await a.jobs.add('prefill', [job('warm'), job('r')]);
      await taking.untilTaken(2);
      taking.consumer.pause();
      const [warm, r] = taking.taken as [TakenJob, TakenJob];
      await handedOver(warm, 1);
      expect(await scriptsOf(() => handedOver(r, 1))).toBe(1);
    });

    it('leave the steps of one turn of the event loop one script', async () => {
      const taking = new Taking(a, 'prefill');
      await a.jobs.add('prefill', [job('warm'), ...jobs(20)]);
      await taking.untilTaken(21);
      taking.consumer.pause();
      const [warm, ...others] = taking.taken as [TakenJob, ...TakenJob[]];
      await handedOver(warm, 1);
      const steps = (): Promise<unknown> =>
        Promise.all(others.map((taken) => handedOver(taken, 1)));
      expect(await scriptsOf(steps)).toBe(1);
    });

    it('let a step fail alone among those of its turn', async () => {
      const begins = { stage: 'prefill', engineId: 'engine-a', maxRuns: 3 } as const;
      const taking = new Taking(a, 'prefill', { begins });
      await a.jobs.add('prefill', jobs(3));
      await taking.untilTaken(3);
      const [broken] = taking.taken as [TakenJob];
      await withAdmin(server(), (admin) =>
        admin.set(`{${world.prefix}}:req:${broken.job.requestId}`, 'not a record'),
      );
      const steps = taking.taken.map((taken) => handedOver(taken, packEpoch(1, 1)));
      const settled = await Promise.allSettled(steps);
      expect(settled).toMatchObject([
        { status: 'rejected' },
        { status: 'fulfilled', value: true },
        { status: 'fulfilled', value: true },
      ]);
      expect(await a.jobs.waiting('decode')).toBe(2);
    });
  });
}
