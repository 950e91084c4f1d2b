import { defaultConfig } from '@baton/config';
import { BatonError, type EnginePresence, STAGES, type Stage } from '@baton/contract';
import { attachInProcess, type Transport } from '@baton/transport';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { runsOf } from '../../../../../test/support/runs';
import { until } from '../../../test/until';
import type { Sequence } from '../../sequences/sequence';
import { AdmissionGate, DrainRate } from './admission-gate';

/** A busy machine delays this process by less. */
const STARVED_AFTER_S = 60;

describe('the admission gate', () => {
  let transport: Transport;
  let gate: AdmissionGate;

  beforeEach(async () => {
    transport = attachInProcess();
    await transport.presence.announceApi('api-1', 60_000);
    gate = new AdmissionGate(
      transport,
      { apiId: 'api-1', startedAt: 0 },
      defaultConfig({ maxWaitingRequests: 10, starvedAfter: STARVED_AFTER_S }),
    );
  });

  async function waiting(): Promise<number> {
    const totals = await transport.admission.totals();
    return STAGES.reduce((sum, stage) => sum + totals[stage], 0);
  }

  async function settled(expected: number): Promise<void> {
    let count = -1;
    const poll = setInterval(() => void waiting().then((now) => (count = now)), 1);
    await until(() => count === expected).finally(() => clearInterval(poll));
  }

  it(
    'admits fewer for a stage whose engines are all starved, and as many as before when one is ' +
      'not',
    async () => {
      const engine = (latenessMs: number): EnginePresence =>
        ({ stage: 'prefill', state: 'ready', gauges: { latenessMs } }) as EnginePresence;
      gate.noteEngines([engine(5_000 * STARVED_AFTER_S), engine(5_000 * STARVED_AFTER_S)]);
      await gate.enter('prefill', 2);
      const error = await gate.enter('prefill', 1).catch((thrown: unknown) => thrown);
      expect((error as BatonError).code).toBe('queue_full');
      expect((error as BatonError).retryAfterSeconds).toBeGreaterThanOrEqual(1);
      await gate.enter('decode', 10);
      gate.noteEngines([engine(5_000 * STARVED_AFTER_S), engine(0)]);
      await gate.enter('prefill', 8);
    },
  );

  it('can hold as many sequences of one request as may wait, and no more', () => {
    expect([10, 11].map((count) => gate.canEverHold(count))).toEqual([true, false]);
  });

  it('admits up to the limit and gives a retry time beyond it', async () => {
    await Promise.all(Array.from({ length: 10 }, () => gate.enter('prefill', 1)));
    const error = await gate.enter('prefill', 1).catch((thrown: unknown) => thrown);
    expect((error as BatonError).code).toBe('queue_full');
    expect((error as BatonError).retryAfterSeconds).toBeGreaterThanOrEqual(1);
    gate.leave('prefill', 1);
    await settled(9);
    await gate.enter('prefill', 1);
  });

  it('counts nothing for requests that fail together with the broker', async () => {
    await gate.enter('prefill', 9);
    const { admission } = transport;
    const tryEnter = admission.tryEnter.bind(admission);
    let asked = 0;
    vi.spyOn(admission, 'tryEnter').mockImplementation((...question) => {
      asked += 1;
      return asked < 3 ? tryEnter(...question) : Promise.reject(new Error('gone'));
    });
    const entered = await Promise.allSettled([gate.enter('prefill', 1), gate.enter('prefill', 1)]);
    expect(entered.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await settled(9);
  });

  it('admits as many as fit, including those admitted without asking the broker', async () => {
    const limit = 320;
    const config = defaultConfig({ maxWaitingRequests: limit, starvedAfter: STARVED_AFTER_S });
    const large = new AdmissionGate(transport, { apiId: 'api-1', startedAt: 0 }, config);
    await large.refreshTotals();
    const enter = vi.spyOn(transport.admission, 'tryEnter');
    const alone = Array.from({ length: limit / 32 }, () => large.enter('prefill', 1));
    await Promise.all(alone);
    expect(enter).not.toHaveBeenCalled();
    const burst = Array.from({ length: limit }, () => large.enter('prefill', 1));
    const results = await Promise.allSettled(burst);
    const entered = results.filter(({ status }) => status === 'fulfilled').length;
    expect(entered + alone.length).toBe(limit);
    await settled(limit);
  });

  it('admits as many of a burst as fit', async () => {
    const entries = [4, 4, 4, 2].map((count) => gate.enter('decode', count));
    const results = await Promise.allSettled(entries);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  it('refuses requests that the second stage has no room for', async () => {
    await gate.enter('decode', 10);
    await gate.refreshTotals();
    await expect(gate.enter('prefill', 1, 'decode')).rejects.toThrow(BatonError);
  });

  it('counts every sequence only in the stage it waits in, even when news repeat or get lost', async () => {
    const stages: readonly (Stage | undefined)[] = [...STAGES, undefined];
    const move = fc.record({ who: fc.nat(4), to: fc.constantFrom(...stages) });
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
        const sequences = Array.from({ length: 5 }, () => ({ waitingIn: undefined }) as Sequence);
        for (const { who, to } of moves) gate.moved(sequences[who] as Sequence, to);
        await settled(sequences.filter(({ waitingIn }) => waitingIn !== undefined).length);
        for (const sequence of sequences) gate.moved(sequence, undefined);
        await settled(0);
      }),
      { numRuns: runsOf(60) },
    );
  });
});

describe('the drain rate', () => {
  it('is the number that left per second in the last ten seconds', () => {
    const rate = new DrainRate();
    for (let ms = 0; ms < 20_000; ms += 100) rate.add(1, ms);
    expect(rate.perSecond(20_000)).toBeCloseTo(9, 0);
  });

  it('goes to zero when nothing leaves', () => {
    const rate = new DrainRate();
    rate.add(50, 1_000);
    expect(rate.perSecond(1_500)).toBe(50);
    expect(rate.perSecond(60_000)).toBe(0);
  });
});
