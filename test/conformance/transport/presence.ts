import type { EnginePresence } from '@baton/contract';
import { nameParts } from '@baton/kernel';
import type { Transport } from '@baton/transport';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import type { World, WorldFactory } from './world';

/** Longer than a stall of the machine, which lets no renewal through. */
const TTL_MS = 4_000;

export function describePresence(makeWorld: WorldFactory): void {
  describe('presence', () => {
    let world: World;
    let a: Transport;
    let b: Transport;
    beforeEach(async () => {
      world = makeWorld();
      a = await world.connect();
      b = await world.connect();
    });
    afterEach(() => world.close());

    it('shows engines until they are removed or send no heartbeats', async () => {
      await a.presence.announceEngine(engine('stays', 0), 60_000);
      await a.presence.announceEngine(engine('leaves', 1), 60_000);
      await a.presence.announceEngine(engine('silent', 2), 60_000);
      expect((await ids(b)).sort()).toEqual(['leaves', 'silent', 'stays']);
      await a.presence.removeEngine('leaves');
      await a.presence.announceEngine(engine('silent', 2), 120);
      await waitUntil(async () => (await ids(b)).join() === 'stays', { what: 'one is left' });
      expect(await b.presence.engines()).toEqual([engine('stays', 0)]);
    });

    it('keeps an engine that renews its presence, with its newest report', async () => {
      await a.presence.announceEngine(engine('silent', 1), TTL_MS);
      let beat = 0;
      const isSilentGone = async (): Promise<boolean> => {
        await a.presence.announceEngine(engine('beats', 0, (beat += 1)), TTL_MS);
        const found = await b.presence.engines();
        const beats = found.find(({ engineId }) => engineId === 'beats');
        expect(beats?.counters['beat']).toBe(beat);
        return found.length === 1;
      };
      await waitUntil(isSilentGone, { what: 'the engine without renewals is gone' });
      expect(beat).toBeGreaterThan(1);
    });

    it('keeps an engine that renews its entry as it was, until that is gone', async () => {
      await a.presence.announceEngine(engine('silent', 1), TTL_MS);
      await a.presence.announceEngine(engine('idle', 0, 7), TTL_MS);
      const isSilentGone = async (): Promise<boolean> => {
        expect(await a.presence.renewEngine('idle', TTL_MS)).toBe(true);
        const found = await b.presence.engines();
        expect(found).toContainEqual(engine('idle', 0, 7));
        return found.length === 1;
      };
      await waitUntil(isSilentGone, { what: 'the engine without renewals is gone' });
      await a.presence.removeEngine('idle');
      expect(await a.presence.renewEngine('idle', 250)).toBe(false);
      expect(await b.presence.engines()).toEqual([]);
    });

    it('shows each reader every change of the board', async () => {
      const ids = ['a', 'b', 'c'];
      const present = new Map<string, number>();
      const change = fc.tuple(fc.constantFrom(...ids), fc.boolean(), fc.boolean());
      const changes = fc.sample(change, { numRuns: 60, seed: 7 });
      for (const [step, [id, isPresent, isRead]] of changes.entries()) {
        if (isPresent) await a.presence.announceEngine(engine(id, 0, step), 60_000);
        else await a.presence.removeEngine(id);
        if (isPresent) present.set(id, step);
        else present.delete(id);
        for (const reader of isRead ? [a, b] : [b]) {
          const found = await reader.presence.engines();
          const beats = found.map(({ engineId, counters }) => [engineId, counters['beat']]);
          expect(new Map(beats as [string, number][])).toEqual(present);
        }
      }
    });

    it('claims the smallest free index, once for each of many at the same time', async () => {
      const claims = await Promise.all(
        Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? a : b).presence.claimNumber(`e${i}`)),
      );
      expect([...claims].sort((x, y) => x - y)).toEqual(Array.from({ length: 12 }, (_, i) => i));
      expect(await a.presence.claimNumber('e3')).toBe(claims[3]);
    });

    it('claims the wanted index while it is free, else the smallest free one', async () => {
      expect(await a.presence.claimNumber('decode', 2)).toBe(2);
      expect(await b.presence.claimNumber('prefill', 0)).toBe(0);
      expect(await b.presence.claimNumber('second', 2)).toBe(1);
      expect(await a.presence.claimNumber('third', 0)).toBe(3);
      expect(await a.presence.claimNumber('decode', 7)).toBe(2);
    });

    it('frees the index of an engine that is gone, and no other', async () => {
      for (const id of ['zero', 'one', 'two']) {
        const index = await a.presence.claimNumber(id);
        await a.presence.announceEngine(engine(id, index), 60_000);
      }
      await a.presence.removeEngine('one');
      expect(await b.presence.claimNumber('new')).toBe(1);
      expect(await b.presence.claimNumber('newer')).toBe(3);
    });

    it('claims the number of a name beside the index, for each role from 0', async () => {
      const [prefill, decode] = [nameParts('prefill'), nameParts('decode')];
      expect(await a.presence.claimNumber('p')).toBe(0);
      expect(await a.presence.claimNumber('p', 0, prefill)).toBe(0);
      expect(await b.presence.claimNumber('d')).toBe(1);
      expect(await b.presence.claimNumber('d', 0, decode)).toBe(0);
      expect(await b.presence.claimNumber('second', 0, decode)).toBe(1);
      expect(await a.presence.claimNumber('d', 5, decode)).toBe(0);
      expect(await a.presence.claimNumber('d', 5)).toBe(1);
    });

    it('keeps the names of data-parallel ranks apart', async () => {
      const ranks = [0, 1].map((rank) => nameParts('decode', rank));
      expect(await a.presence.claimNumber('d0r0', 1, ranks[0])).toBe(1);
      expect(await a.presence.claimNumber('d0r1', 1, ranks[1])).toBe(1);
      expect(await b.presence.claimNumber('d1r1', 1, ranks[1])).toBe(0);
    });

    it('frees the name of an engine that is gone', async () => {
      const names = nameParts('prefill');
      await a.presence.claimNumber('old', 0, names);
      await a.presence.announceEngine(engine('old', 0), 60_000);
      await a.presence.removeEngine('old');
      expect(await b.presence.claimNumber('new', 0, names)).toBe(0);
    });

    it('reports to an engine that another one has its name', async () => {
      const named = (id: string, index: number) => ({ ...engine(id, index), name: 'P7' });
      expect(await a.presence.announceEngine(named('first', 0), 60_000)).toBe(true);
      expect(await b.presence.announceEngine(named('late', 1), 60_000)).toBe(false);
    });

    it('reports to an engine that another one has its index', async () => {
      expect(await a.presence.announceEngine(engine('late', 0), 60_000)).toBe(true);
      expect(await a.presence.announceEngine(engine('late', 0), 60_000)).toBe(true);
      await a.presence.removeEngine('late');
      const taken = await b.presence.claimNumber('heir');
      expect(await a.presence.announceEngine(engine('late', taken), 60_000)).toBe(false);
    });

    it('lists the living APIs', async () => {
      await a.presence.announceApi('lives', 60_000);
      await a.presence.announceApi('falls-silent', 120);
      await a.presence.announceApi('leaves', 60_000);
      await a.presence.removeApi('leaves');
      const ask = () => b.presence.aliveApis(['lives', 'falls-silent', 'leaves', 'never']);
      await waitUntil(async () => (await ask())[1] === false, { what: 'the silent one is gone' });
      expect(await ask()).toEqual([true, false, false, false]);
      expect(await b.presence.aliveApis([])).toEqual([]);
    });
  });
}

async function ids(transport: Transport): Promise<string[]> {
  return (await transport.presence.engines()).map(({ engineId }) => engineId);
}

export function engine(engineId: string, index: number, beat = 1): EnginePresence {
  return {
    engineId,
    stage: 'prefill',
    index,
    name: `P${index}`,
    pid: 1,
    host: 'localhost',
    model: 'm',
    state: 'ready',
    gauges: {
      running: 0,
      waitingCapacity: 0,
      waitingDeferred: 0,
      kvUsage: 0.25,
      heldBlocks: 0,
      numBlocks: 10,
      clockLagMs: 0.5,
      stepMs: 0,
    },
    counters: { beat },
    histograms: { ttft: { le: [1, 2], counts: [0, 1, 1], sum: 2.5, count: 1 } },
  };
}
