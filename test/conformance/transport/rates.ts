import type { Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import type { World, WorldFactory } from './world';

/** The server has another clock than this process. */
const CLOCK_ERROR_MS = 5;

const requests = (amount: number, limit = 10) => ({ budget: 'requests', limit, amount });
const tokens = (amount: number, limit = 600_000) => ({ budget: 'tokens', limit, amount });

export function describeRates(makeWorld: WorldFactory): void {
  describe('rate budgets', () => {
    let world: World;
    let a: Transport;
    let b: Transport;
    beforeEach(async () => {
      world = makeWorld();
      a = await world.connect();
      b = await world.connect();
    });
    afterEach(() => world.close());

    it.each([1, 7, 10, 60, 1_000])(
      'give exactly their limit of %i at once to concurrent callers',
      async (limit) => {
        const beganMs = performance.now();
        const asks = Array.from({ length: limit + 5 }, (_, i) =>
          (i % 2 === 0 ? a : b).rates.take('x', [requests(1, limit)]),
        );
        const taken = (await Promise.all(asks)).filter(({ isTaken }) => isTaken);
        const refilled = (limit * (performance.now() - beganMs + CLOCK_ERROR_MS)) / 60_000;
        expect(taken.length).toBeGreaterThanOrEqual(limit);
        expect(taken.length).toBeLessThanOrEqual(limit + Math.floor(refilled));
        const left = taken.map(({ states }) => states[0]?.remaining);
        expect(left.includes(limit - 1)).toBe(true);
      },
    );

    it('report the remaining amount and when they are full', async () => {
      const { isTaken, states } = await a.rates.take('x', [requests(4)]);
      expect(isTaken).toBe(true);
      expect(states[0]?.remaining).toBe(6);
      expect(states[0]?.fullInMs).toBeGreaterThan(23_000);
      expect(states[0]?.fullInMs).toBeLessThanOrEqual(24_000);
      expect(await b.rates.take('y', [requests(0)])).toEqual({
        isTaken: true,
        states: [{ remaining: 10, fullInMs: 0 }],
      });
    });

    it('are charged together or not at all', async () => {
      await a.rates.take('x', [requests(8), tokens(1_000)]);
      const refused = await b.rates.take('x', [requests(3), tokens(1_000)]);
      expect(refused.isTaken).toBe(false);
      expect(refused.states[0]?.remaining).toBe(2);
      const state = (await a.rates.take('x', [tokens(0)])).states[0];
      expect(state?.remaining).toBeGreaterThanOrEqual(599_000);
    });

    it('never give more than their limit', async () => {
      expect((await a.rates.take('x', [requests(11)])).isTaken).toBe(false);
      expect((await a.rates.take('x', [requests(10)])).isTaken).toBe(true);
    });

    it('go into debt by settled amounts, and refuse every request until it is paid', async () => {
      await a.rates.take('x', [requests(10)]);
      await b.rates.settle('x', requests(5));
      const look = await a.rates.take('x', [requests(0)]);
      expect(look).toMatchObject({ isTaken: false, states: [{ remaining: 0 }] });
      expect(look.states[0]?.fullInMs).toBeGreaterThan(60_000);
      await b.rates.settle('x', requests(-6));
      expect((await a.rates.take('x', [requests(1)])).isTaken).toBe(true);
    });

    it('are never fuller than full', async () => {
      await a.rates.take('x', [requests(2)]);
      await a.rates.settle('x', requests(-9));
      expect((await a.rates.take('x', [requests(11)])).isTaken).toBe(false);
      expect((await a.rates.take('x', [requests(10)])).isTaken).toBe(true);
    });

    it('fill evenly', async () => {
      await a.rates.take('x', [tokens(600_000)]);
      expect((await b.rates.take('x', [tokens(600_000)])).isTaken).toBe(false);
      await waitUntil(async () => (await b.rates.take('x', [tokens(500)])).isTaken, {
        what: 'a 1,200th of a minute has passed',
      });
    });
  });
}
