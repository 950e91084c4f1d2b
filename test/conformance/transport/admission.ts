import type { Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import type { World, WorldFactory } from './world';

export function describeAdmission(makeWorld: WorldFactory): void {
  describe('admission', () => {
    let world: World;
    let a: Transport;
    let b: Transport;
    beforeEach(async () => {
      world = makeWorld();
      a = await world.connect();
      b = await world.connect();
      await a.presence.announceApi('api-a', 60_000);
      await b.presence.announceApi('api-b', 60_000);
    });
    afterEach(() => world.close());

    it('admits exactly the limit of many concurrent requests', async () => {
      const asked = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          i % 2 === 0
            ? a.admission.tryEnter('api-a', 'prefill', 1, 25)
            : b.admission.tryEnter('api-b', 'prefill', 1, 25),
        ),
      );
      expect(asked.filter(Boolean)).toHaveLength(25);
      expect(await a.admission.totals()).toEqual({ prefill: 25, decode: 0, aggregated: 0 });
    });

    it('admits several at a time wholly or not at all', async () => {
      expect(await a.admission.tryEnter('api-a', 'aggregated', 3, 4)).toBe(true);
      expect(await b.admission.tryEnter('api-b', 'aggregated', 2, 4)).toBe(false);
      expect(await b.admission.tryEnter('api-b', 'aggregated', 1, 4)).toBe(true);
    });

    it('moves shares between stages, never below nothing', async () => {
      await a.admission.tryEnter('api-a', 'prefill', 2, 10);
      await a.admission.shift('api-a', { prefill: -1, decode: 1 });
      expect(await b.admission.totals()).toEqual({ prefill: 1, decode: 1, aggregated: 0 });
      await a.admission.shift('api-a', { prefill: -5, aggregated: -1 });
      expect(await b.admission.totals()).toEqual({ prefill: 0, decode: 1, aggregated: 0 });
    });

    it('drops the share of a dead API', async () => {
      await a.presence.announceApi('dies', 60_000);
      await a.admission.tryEnter('dies', 'prefill', 5, 5);
      expect(await b.admission.tryEnter('api-b', 'prefill', 1, 5)).toBe(false);
      await a.presence.announceApi('dies', 120);
      await waitUntil(() => b.admission.tryEnter('api-b', 'prefill', 1, 5), {
        what: 'the share of the dead is free',
      });
      expect((await b.admission.totals()).prefill).toBe(1);
    });

    it('keeps the shares of living APIs over a restart of the broker', async () => {
      await a.admission.tryEnter('api-a', 'prefill', 4, 10);
      await world.kill();
      await a.admission.shift('api-a', { prefill: -1 });
      await expect(a.admission.tryEnter('api-a', 'prefill', 1, 10)).rejects.toThrow(
        /not reachable/,
      );
      await world.restart();
      await waitUntil(() => a.isConnected && b.isConnected, { what: 'both are connected again' });
      expect(await b.admission.totals()).toEqual({ prefill: 3, decode: 0, aggregated: 0 });
    });
  });
}
