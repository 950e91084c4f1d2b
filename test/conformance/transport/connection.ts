import { type Transport, type TransportTimes, TransportUnavailable } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import {
  handoff,
  job,
  SHORT_REDIS_LOCKS,
  start,
  Taking,
  type World,
  type WorldFactory,
} from './world';

export function describeConnection(makeWorld: WorldFactory): void {
  describe('connection', () => {
    let world: World;
    let a: Transport;
    let b: Transport;
    let events: string[];
    beforeEach(() => open({}));
    afterEach(() => world.close());

    async function open(times: Partial<TransportTimes>): Promise<void> {
      // Longer than a test may take: a call that waited for its deadline would fail the test.
      world = makeWorld({ ...times, callDeadlineMs: 600_000 });
      a = await world.connect();
      b = await world.connect();
      events = [];
      a.onConnection((event) => events.push(event));
    }

    it('reports a restarted broker as another one', async () => {
      await world.kill();
      expect(a.isConnected).toBe(false);
      await world.restart();
      await waitUntil(() => a.isConnected, { what: 'the connection is back' });
      expect(events).toEqual(['lost', 'replaced']);
    });

    it('reports that a broken connection was restored, and keeps its subscriptions', async () => {
      const received: string[] = [];
      await a.bus.subscribe('api:a', (payload) => received.push(payload.toString()));
      await world.breakConnections();
      await waitUntil(() => events.length >= 2 && a.isConnected && b.isConnected, {
        what: 'both are connected again',
      });
      expect(new Set(events)).toEqual(new Set(['lost', 'restored']));
      b.bus.publish('api:a', Buffer.from('after'));
      await waitUntil(() => received.includes('after'), { what: 'the message has arrived' });
    });

    it('refuses every call before its deadline while it is lost', async () => {
      await world.kill();
      const calls: (() => Promise<unknown>)[] = [
        () => a.jobs.add('prefill', [job('x')]),
        () => a.jobs.waiting('prefill'),
        () => a.jobs.abandon('engine:x'),
        () => a.bus.subscribe('c', () => undefined),
        () => a.ledger.begin(start()),
        () => a.ledger.handOff('r', 1, handoff(1)),
        () => a.ledger.returnToPrefill('r', 1),
        () => a.ledger.finishRequest('r', 1, { reason: 'stop', tokens: 1 }),
        () => a.ledger.abort(['r']),
        () => a.ledger.resubmit({ requestId: 'r', submission: 2, apiId: 'api-a' }),
        () => a.ledger.inspect(['r']),
        () => a.ledger.putPrompt('r', Buffer.from('x')),
        () => a.ledger.getPrompt('r'),
        () => a.presence.engines(),
        () => a.presence.claimNumber('e'),
        () => a.presence.announceApi('api', 1_000),
        () => a.presence.removeApi('api'),
        () => a.presence.aliveApis(['api']),
        () => a.admission.tryEnter('api', 'prefill', 1, 1),
        () => a.admission.totals(),
      ];
      const outcomes = await Promise.allSettled(calls.map((call) => call()));
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: expect.any(TransportUnavailable),
        });
      }
      a.bus.publish('c', Buffer.from('into the void'));
      await world.restart();
    });

    it('takes jobs again after the broker was replaced', async () => {
      const taking = new Taking(b, 'prefill');
      await a.jobs.add('prefill', [job('before')]);
      await taking.untilTaken(1);
      await world.kill();
      await world.restart();
      await waitUntil(() => a.isConnected, { what: 'the connection is back' });
      await a.jobs.add('prefill', [job('after')]);
      await taking.untilTaken(2);
      expect(taking.ids).toEqual(['before', 'after']);
    });

    it('starts to take when a consumer was made while it was lost', async () => {
      await world.kill();
      const taking = new Taking(b, 'prefill');
      await world.restart();
      await waitUntil(() => a.isConnected, { what: 'the connection is back' });
      await a.jobs.add('prefill', [job('late')]);
      await taking.untilTaken(1);
    });

    it('reports held jobs lost when their locks cannot be renewed, and refuses to complete them', async () => {
      await world.close();
      // Neither lock runs out before the call below, also when the machine stalls meanwhile.
      await open(SHORT_REDIS_LOCKS);
      const taking = new Taking(b, 'prefill', { room: 2 });
      await a.jobs.add('prefill', [job('one'), job('two')]);
      await taking.untilTaken(2);
      await world.kill();
      await expect(taking.taken[1]?.done()).rejects.toThrow(TransportUnavailable);
      await waitUntil(() => taking.lost.length > 0, { what: 'the loss is reported' });
      expect(taking.lostIds).toEqual(['one']);
      expect(await taking.first().done()).toBe(false);
      await world.restart();
    });

    it('keeps held jobs over a short break', async () => {
      const taking = new Taking(b, 'prefill', { room: 1 });
      await a.jobs.add('prefill', [job('kept')]);
      await taking.untilTaken(1);
      await world.breakConnections();
      await waitUntil(() => b.isConnected && a.isConnected, { what: 'both are connected again' });
      expect(await taking.first().done()).toBe(true);
      expect(taking.lost).toEqual([]);
    });

    it('announces its APIs again before it reports a replaced broker', async () => {
      await a.presence.announceApi('api-a', 60_000);
      const permits: string[] = [];
      a.onConnection((event) => {
        if (event === 'replaced')
          void a.ledger.begin(start()).then(({ kind }) => permits.push(kind));
      });
      await world.kill();
      await world.restart();
      await waitUntil(() => permits.length === 1, { what: 'a run was asked for' });
      expect(permits).toEqual(['run']);
    });

    it('closes while it is lost, before the deadline of a call', async () => {
      const taking = new Taking(b, 'prefill');
      await world.kill();
      await b.close();
      expect(taking.taken).toEqual([]);
      await world.restart();
    });
  });
}
