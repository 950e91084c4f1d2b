import { packEpoch } from '@baton/contract';
import type { RunPermit, RunStart, Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import { handoff, start, type World, type WorldFactory } from './world';

/** Longer than a stall of the machine between the writing and the reading of a record. */
const TOMBSTONE_MS = 4_000;

export function describeLedger(makeWorld: WorldFactory): void {
  describe('ledger', () => {
    let world: World;
    let a: Transport;
    let b: Transport;
    beforeEach(async () => {
      world = makeWorld();
      a = await world.connect();
      b = await world.connect();
      await a.presence.announceApi('api-a', 60_000);
    });
    afterEach(() => world.close());

    const begin = (over: Partial<RunStart> = {}): Promise<RunPermit> => b.ledger.begin(start(over));
    const decode = (over: Partial<RunStart> = {}): Promise<RunPermit> =>
      begin({ stage: 'decode', engineId: 'engine-d', ...over });
    const view = async (id = 'r') => (await a.ledger.inspect([id]))[0];

    async function run(over: Partial<RunStart> = {}): Promise<number> {
      const permit = await begin(over);
      if (permit.kind !== 'run') throw new Error(`not permitted: ${JSON.stringify(permit)}`);
      return permit.epoch;
    }

    async function handedOver(): Promise<number> {
      const epoch = await run();
      expect(await a.ledger.handOff('r', epoch, handoff(epoch))).toBe(true);
      return epoch;
    }

    it('takes a routed request from prefill over decode to its tombstone', async () => {
      const prefill = await run();
      expect(prefill).toBe(packEpoch(1, 1));
      expect(await a.ledger.handOff('r', prefill, handoff(prefill))).toBe(true);
      const permit = await decode();
      expect(permit).toEqual({ kind: 'run', epoch: packEpoch(1, 2), handoff: handoff(prefill) });
      const result = { reason: 'stop', tokens: 9 } as const;
      expect(await a.ledger.finishRequest('r', packEpoch(1, 2), result)).toBe(true);
      expect(await view()).toEqual({
        stage: 'finished',
        epoch: packEpoch(1, 2),
        engineId: 'engine-d',
        isAborted: false,
        isApiAlive: true,
        awaitsRun: false,
        result,
      });
      expect(await begin()).toEqual({ kind: 'drop', why: 'finished' });
      expect(await decode()).toEqual({ kind: 'drop', why: 'finished' });
    });

    it('raises the epoch with every run and fences the older ones out', async () => {
      const first = await run();
      const second = await run();
      expect(second).toBeGreaterThan(first);
      expect(await a.ledger.handOff('r', first, handoff(first))).toBe(false);
      expect(await a.ledger.finishRequest('r', first, { reason: 'stop', tokens: 1 })).toBe(false);
      expect(await a.ledger.handOff('r', second, handoff(second))).toBe(true);
      expect(await a.ledger.returnToPrefill('r', first)).toBeUndefined();
    });

    it('gives concurrent begins different epochs, and only the newest ends the request', async () => {
      const starts = Array.from({ length: 8 }, (_, i) =>
        (i % 2 === 0 ? a : b).ledger.begin(start({ stage: 'aggregated', maxRuns: 8 })),
      );
      const epochs = (await Promise.all(starts)).map((permit) =>
        permit.kind === 'run' ? permit.epoch : 0,
      );
      expect(new Set(epochs).size).toBe(8);
      const ends = await Promise.all(
        epochs.map((epoch) =>
          a.ledger.finishRequest('r', epoch, { reason: 'length', tokens: epoch }),
        ),
      );
      expect(ends.filter(Boolean)).toHaveLength(1);
      expect((await view())?.result?.tokens).toBe(Math.max(...epochs));
    });

    it('ends a request whose runs are used up, counting per stage and over submissions', async () => {
      await run({ maxRuns: 2 });
      await a.ledger.resubmit({ requestId: 'r', submission: 2, apiId: 'api-a' });
      await a.ledger.failRun('r', await run({ submission: 2, maxRuns: 2 }));
      expect(await begin({ submission: 2, maxRuns: 2 })).toEqual({
        kind: 'exhausted',
        epoch: packEpoch(2, 3),
      });
      expect(await view()).toMatchObject({
        stage: 'finished',
        epoch: packEpoch(2, 3),
        result: { reason: 'error', tokens: 0, errorCode: 'attempts_exhausted' },
      });
      expect(await begin({ submission: 2 })).toEqual({ kind: 'drop', why: 'finished' });
    });

    it('counts runs that failed apart from those whose process was lost', async () => {
      for (let lost = 0; lost < 10; lost += 1) await run({ maxRuns: 1 });
      expect(await begin({ maxRuns: 1 })).toMatchObject({ kind: 'exhausted' });
      expect(await view()).toMatchObject({ result: { errorCode: 'attempts_exhausted' } });
      const other = { requestId: 'other', maxRuns: 2 };
      for (let failed = 0; failed < 2; failed += 1) {
        await run(other);
        await a.ledger.failRun('other', await run(other));
      }
      expect(await begin(other)).toMatchObject({ kind: 'exhausted' });
    });

    it('counts neither side of a hand-over that was lost with a process', async () => {
      for (let lost = 0; lost < 9; lost += 1) {
        const submission = lost + 1;
        const prefill = await run({ submission, maxRuns: 1 });
        await a.ledger.handOff('r', prefill, handoff(prefill));
        const output = await run({ stage: 'decode', submission, maxRuns: 1 });
        expect(await a.ledger.returnToPrefill('r', output, 'source-lost')).toBe(submission + 1);
      }
      const late = await run({ submission: 10, maxRuns: 1 });
      expect(await a.ledger.handOff('r', late, handoff(late))).toBe(true);
      expect((await decode({ submission: 10, maxRuns: 1 })).kind).toBe('run');
      expect((await decode({ submission: 10, maxRuns: 1 })).kind).toBe('exhausted');
    });

    it('excuses a run that finds the KV gone because it replaces a lost one', async () => {
      for (const submission of [1, 2, 3]) {
        const prefill = await run({ submission, maxRuns: 1 });
        await a.ledger.handOff('r', prefill, handoff(prefill));
        await run({ stage: 'decode', submission, maxRuns: 1 });
        const next = await run({ stage: 'decode', submission, maxRuns: 1 });
        expect(await a.ledger.returnToPrefill('r', next)).toBe(submission + 1);
      }
      const prefill = await run({ submission: 4, maxRuns: 1 });
      await a.ledger.handOff('r', prefill, handoff(prefill));
      const failed = await run({ stage: 'decode', submission: 4, maxRuns: 1 });
      expect(await a.ledger.returnToPrefill('r', failed)).toBe(5);
      expect((await begin({ submission: 5, maxRuns: 1 })).kind).toBe('exhausted');
    });

    it('does not count a run whose engine leaves, for any number of reports', async () => {
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        expect((await begin({ maxRuns: 1 })).kind).toBe('run');
        for (const _ of [1, 2]) await a.ledger.withdraw('r', packEpoch(1, attempt));
      }
      expect((await begin({ maxRuns: 1 })).kind).toBe('run');
      await a.ledger.withdraw('r', packEpoch(1, 5));
      await a.ledger.failRun('r', packEpoch(1, 6));
      expect((await begin({ maxRuns: 1 })).kind).toBe('exhausted');
      await a.ledger.withdraw('unknown', packEpoch(1, 1));
    });

    it('does not count a run that a late worker has lost to a newer one', async () => {
      for (let attempt = 1; attempt <= 20; attempt += 1) {
        const late = await run({ maxRuns: 1 });
        const newer = await run({ maxRuns: 1 });
        for (const epoch of [late, newer, late]) await a.ledger.withdraw('r', epoch);
      }
      expect(
        await a.ledger.finishRequest('r', await run({ maxRuns: 1 }), { reason: 'stop', tokens: 1 }),
      ).toBe(true);
    });

    it('counts a run that has handed over, even if its engine withdraws it', async () => {
      await run({ maxRuns: 1 });
      const epoch = packEpoch(1, 1);
      await a.ledger.handOff('r', epoch, handoff(epoch));
      await a.ledger.withdraw('r', epoch);
      await a.ledger.returnToPrefill('r', await run({ stage: 'decode', maxRuns: 1 }));
      expect((await begin({ submission: 2, maxRuns: 1 })).kind).toBe('exhausted');
    });

    it('does not count prefill runs against decode', async () => {
      await run({ maxRuns: 1 });
      const epoch = packEpoch(1, 1);
      await a.ledger.handOff('r', epoch, handoff(epoch));
      await a.ledger.failRun('r', await run({ stage: 'decode', maxRuns: 1 }));
      expect((await decode({ maxRuns: 1 })).kind).toBe('exhausted');
    });

    it('hands the hand-over record to every decode run', async () => {
      const epoch = await handedOver();
      for (const _ of [1, 2]) expect(await decode()).toMatchObject({ handoff: handoff(epoch) });
    });

    it('makes a repeated prefill add the decode job as long as no decode run has begun', async () => {
      const epoch = await handedOver();
      const again = { kind: 'drop', why: 'handed-over', handoff: handoff(epoch) };
      expect(await begin()).toEqual(again);
      expect(await a.ledger.handOff('r', epoch, handoff(epoch))).toBe(true);
      await decode();
      expect(await begin()).toEqual({ kind: 'drop', why: 'moved-on' });
      expect(await a.ledger.handOff('r', epoch, handoff(epoch))).toBe(false);
    });

    it('returns a request to prefill under the next submission', async () => {
      await handedOver();
      const epoch = packEpoch(1, 2);
      await decode();
      expect(await a.ledger.returnToPrefill('r', epoch)).toBe(2);
      expect(await a.ledger.returnToPrefill('r', epoch)).toBe(2);
      expect(await a.ledger.finishRequest('r', epoch, { reason: 'stop', tokens: 1 })).toBe(false);
      expect(await decode()).toEqual({ kind: 'drop', why: 'returned', submission: 2 });
      const second = await run({ submission: 2 });
      expect(second).toBe(packEpoch(2, 3));
      expect(await decode()).toEqual({ kind: 'drop', why: 'superseded' });
      await a.ledger.handOff('r', second, handoff(second));
      expect(await decode({ submission: 2 })).toMatchObject({ handoff: handoff(second) });
    });

    it('shows whether a job of the request waits to be begun', async () => {
      const awaits = async (): Promise<boolean | undefined> => (await view())?.awaitsRun;
      await handedOver();
      expect(await awaits()).toBe(true);
      const permit = await decode();
      expect(await awaits()).toBe(false);
      await a.ledger.returnToPrefill('r', permit.kind === 'run' ? permit.epoch : 0);
      expect(await awaits()).toBe(true);
      await run({ submission: 2 });
      expect(await awaits()).toBe(false);
      await a.ledger.resubmit({ requestId: 'r', submission: 3, apiId: 'api-a' });
      expect(await awaits()).toBe(true);
      await run({ submission: 3 });
      expect(await awaits()).toBe(false);
    });

    it('drops a stage that is not the turn of the request', async () => {
      await run();
      expect(await decode()).toEqual({ kind: 'drop', why: 'moved-on' });
    });

    it('starts over at any stage after a resubmission, without the old hand-over', async () => {
      const epoch = await handedOver();
      await a.ledger.resubmit({ requestId: 'r', submission: 2, apiId: 'api-a' });
      expect(await a.ledger.handOff('r', epoch, handoff(epoch))).toBe(false);
      expect(await decode()).toEqual({ kind: 'drop', why: 'superseded' });
      expect(await begin({ submission: 2 })).toEqual({
        kind: 'run',
        epoch: packEpoch(2, 2),
        handoff: undefined,
      });
    });

    it('treats a higher submission as a resubmission when the call itself was lost', async () => {
      await handedOver();
      expect(await begin({ submission: 3 })).toMatchObject({ kind: 'run', epoch: packEpoch(3, 2) });
      expect(await begin({ submission: 2 })).toEqual({ kind: 'drop', why: 'superseded' });
      await a.ledger.resubmit({ requestId: 'r', submission: 2, apiId: 'api-a' });
      expect((await view())?.epoch).toBe(packEpoch(3, 2));
    });

    it('refuses every step of an aborted request, begun or not', async () => {
      const epoch = await run();
      await a.ledger.abort(['r', 'unknown']);
      expect(await a.ledger.handOff('r', epoch, handoff(epoch))).toBe(false);
      expect(await a.ledger.finishRequest('r', epoch, { reason: 'stop', tokens: 1 })).toBe(false);
      for (const requestId of ['r', 'unknown']) {
        expect(await begin({ requestId })).toEqual({ kind: 'drop', why: 'aborted' });
        expect(await begin({ requestId, submission: 2 })).toEqual({ kind: 'drop', why: 'aborted' });
        expect(await view(requestId)).toMatchObject({ stage: 'finished', isAborted: true });
      }
    });

    it('keeps the result of a request that was aborted too late', async () => {
      const epoch = await run();
      await a.ledger.finishRequest('r', epoch, { reason: 'length', tokens: 3 });
      await a.ledger.abort(['r']);
      expect(await view()).toMatchObject({ isAborted: false, result: { tokens: 3 } });
    });

    it('starts no run for a missing API, and starts it when the API returns', async () => {
      expect(await begin({ apiId: 'ghost' })).toEqual({ kind: 'drop', why: 'not-awaited' });
      expect(await view()).toMatchObject({ isAborted: true, isApiAlive: false });
      await a.presence.announceApi('ghost', 60_000);
      expect(await begin({ apiId: 'ghost' })).toMatchObject({
        kind: 'run',
        epoch: packEpoch(1, 1),
      });
      expect(await view()).toMatchObject({ isAborted: false, isApiAlive: true });
    });

    it('records the API that awaits a request at its resubmission, without any run', async () => {
      await a.ledger.resubmit({ requestId: 'r', submission: 2, apiId: 'api-a' });
      expect(await view()).toMatchObject({ isAborted: false, isApiAlive: true });
      await a.ledger.abandon('r');
      expect(await view()).toMatchObject({ isAborted: false });
    });

    it('marks requests of a dead API, until that API submits them again', async () => {
      await a.presence.announceApi('ghost', 60_000);
      await run({ apiId: 'ghost' });
      await a.presence.removeApi('ghost');
      await a.ledger.abandon('r');
      expect(await view()).toMatchObject({ isAborted: true, stage: 'prefill' });
      await a.presence.announceApi('ghost', 60_000);
      await a.ledger.resubmit({ requestId: 'r', submission: 2, apiId: 'ghost' });
      expect(await view()).toMatchObject({ isAborted: false, isApiAlive: true });
      expect(await begin({ apiId: 'ghost', submission: 2 })).toMatchObject({ kind: 'run' });
    });

    it('returns the views in the order of the given ids', async () => {
      await run({ requestId: 'one' });
      await run({ requestId: 'two', engineId: 'engine-b' });
      const ids = [...Array.from({ length: 300 }, (_, i) => `none-${i}`), 'two', 'one'];
      const views = await a.ledger.inspect(ids);
      expect(views).toHaveLength(302);
      expect(views.slice(299).map((seen) => seen?.engineId)).toEqual([
        undefined,
        'engine-b',
        'engine-a',
      ]);
      expect(await a.ledger.inspect([])).toEqual([]);
    });

    it('stores prompts up to 16 MiB, byte for byte', async () => {
      const prompt = Buffer.from([0, 255, 10, 13, 128]);
      expect(await a.ledger.putPrompt('p', prompt)).toBe('stored');
      expect(await b.ledger.getPrompt('p')).toEqual(prompt);
      expect(await b.ledger.getPrompt('none')).toBeUndefined();
      const tooLarge = Buffer.alloc(16 * 1024 * 1024 + 1);
      expect(await a.ledger.putPrompt('large', tooLarge)).toBe('too-large');
    });
  });

  it('removes tombstones and prompts after their time', async () => {
    const world = makeWorld({ tombstoneMs: TOMBSTONE_MS, promptTtlMs: TOMBSTONE_MS });
    const transport = await world.connect();
    await transport.presence.announceApi('api-a', 60_000);
    await transport.ledger.abort(['gone']);
    await transport.ledger.putPrompt('gone', Buffer.from('x'));
    expect((await transport.ledger.inspect(['gone']))[0]?.isAborted).toBe(true);
    await waitUntil(async () => (await transport.ledger.inspect(['gone']))[0] === undefined, {
      what: 'the tombstone is gone',
    });
    await waitUntil(async () => (await transport.ledger.getPrompt('gone')) === undefined, {
      what: 'the prompt is gone',
    });
    expect((await transport.ledger.begin(start({ requestId: 'gone' }))).kind).toBe('run');
    await world.close();
  });
}
