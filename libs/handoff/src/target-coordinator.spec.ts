import { beforeEach, describe, expect, it } from 'vitest';
import { leaseTimes } from './lease';
import { TargetCoordinator } from './target-coordinator';
import type { TargetAction, TargetFact } from './target-protocol';

const SECOND = 1_000_000;

let target: TargetCoordinator;
let nowUs: number;

beforeEach(() => {
  target = new TargetCoordinator({
    lease: leaseTimes(),
    answerWithinUs: SECOND,
    ports: 1,
    bytesPerToken: 1_000,
    bytesPerBlock: 16_000,
  });
  nowUs = 0;
});

type Untimed<F> = F extends { nowUs: number } ? Omit<F, 'nowUs'> : never;

function tell(fact: Untimed<TargetFact>): readonly TargetAction[] {
  return target.handle({ ...fact, nowUs } as TargetFact);
}

const source = { engineId: 'p0', requestId: 'held', epoch: 1, generation: 7 };
const accept = (requestId = 'r', epoch = 2) => tell({ kind: 'accepted', requestId, epoch, source });
const reserve = (missingTokens: number, requestId = 'r', epoch = 2) =>
  tell({
    kind: 'reserved',
    requestId,
    epoch,
    missingTokens,
    missingBlocks: blocksOf(missingTokens),
  });
const blocksOf = (tokens: number) => Math.ceil(tokens / 16);
const answer = (overrides: Partial<Extract<TargetFact, { kind: 'read-answered' }>> = {}) =>
  tell({
    kind: 'read-answered',
    from: 'p0',
    requestId: 'r',
    attempt: 1,
    outcome: 'blocks',
    heldTokens: 100,
    bytesPerSecond: 1e9,
    ports: 1,
    bytesPerToken: 1_000,
    activeReads: 1,
    ...overrides,
  });
const finish = () => tell({ kind: 'transfer-done', requestId: 'r', epoch: 2 });
const tick = () => tell({ kind: 'tick' });

const sentRead = (attempt: number) => ({
  kind: 'send-read',
  to: 'p0',
  requestId: 'held',
  epoch: 1,
  generation: 7,
  attempt,
  readerRequestId: 'r',
});
const sentEnd = (outcome: 'done' | 'abandoned') => ({
  kind: 'send-read-end',
  to: 'p0',
  requestId: 'held',
  generation: 7,
  readerRequestId: 'r',
  outcome,
});
const sentRelease = { kind: 'send-release', to: 'p0', requestId: 'held', generation: 7 };
const failed = (why: string) => ({ kind: 'kv-failed', requestId: 'r', epoch: 2, why });

describe('a fetch', () => {
  it('reads, transfers the begun blocks of the missing tokens, and reports the arrival of the KV', () => {
    expect(accept()).toEqual([]);
    expect(reserve(60)).toEqual([sentRead(1)]);
    expect(answer({ activeReads: 3 })).toEqual([
      {
        kind: 'start-transfer',
        requestId: 'r',
        epoch: 2,
        sourceId: 'p0',
        blocks: 4,
        bytes: 64_000,
        bytesPerSecond: 1e9,
        sourcePorts: 1,
        activeReads: 3,
      },
    ]);
    nowUs = 250;
    expect(finish()).toEqual([
      sentEnd('done'),
      {
        kind: 'kv-ready',
        requestId: 'r',
        epoch: 2,
        transferredTokens: 60,
        transferredBlocks: 4,
        transferredBytes: 64_000,
        transferUs: 250,
      },
    ]);
    expect(target.nextWakeUpUs()).toBeUndefined();
    expect(target.counters).toMatchObject({ received: 1, transferredBytes: 64_000 });
  });

  it('only sends `done` when nothing is missing', () => {
    accept();
    expect(reserve(0)).toMatchObject([
      sentEnd('done'),
      { kind: 'kv-ready', transferredBytes: 0, transferUs: 0 },
    ]);
    expect(target.counters.nothingMissing).toBe(1);
  });

  it('transfers no more than the source holds', () => {
    accept();
    reserve(150);
    expect(answer()).toMatchObject([{ kind: 'start-transfer', blocks: 7, bytes: 112_000 }]);
  });

  it('takes the blocks of all groups of layers, as the engine counts them', () => {
    accept();
    tell({
      kind: 'reserved',
      requestId: 'r',
      epoch: 2,
      missingTokens: 60,
      missingBlocks: 4 + 2 * 3,
    });
    expect(answer()).toMatchObject([{ kind: 'start-transfer', blocks: 10, bytes: 160_000 }]);
  });

  it('lasts as long as its tokens over a link with a time per token, but counts whole blocks', () => {
    const timed = { lease: leaseTimes(), answerWithinUs: SECOND, ports: 1, isTimedByTokens: true };
    target = new TargetCoordinator({ ...timed, bytesPerToken: 1_000, bytesPerBlock: 16_000 });
    accept();
    reserve(60);
    expect(answer()).toMatchObject([{ kind: 'start-transfer', bytes: 60_000 }]);
    expect(finish()).toMatchObject([{}, { kind: 'kv-ready', transferredBytes: 64_000 }]);
  });

  it('asks again under a new number, then gives up', () => {
    accept();
    reserve(60);
    expect(target.nextWakeUpUs()).toBe(SECOND);
    nowUs = SECOND;
    expect(tick()).toEqual([sentRead(2)]);
    nowUs = 2 * SECOND;
    expect(tick()).toEqual([sentEnd('abandoned'), sentRelease, failed('timeout')]);
    expect(answer({ attempt: 2 })).toEqual([]);
  });

  it('accepts a late answer to its first request', () => {
    accept();
    reserve(60);
    nowUs = SECOND;
    tick();
    expect(answer({ attempt: 1 })).toMatchObject([{ kind: 'start-transfer' }]);
    expect(answer({ attempt: 2 })).toEqual([]);
  });

  it('fails when the source no longer has the blocks', () => {
    accept();
    reserve(60);
    expect(answer({ outcome: 'expired' })).toEqual([failed('expired')]);
  });

  it('fails when the source frees the blocks during the transfer', () => {
    accept();
    reserve(60);
    answer();
    expect(answer({ outcome: 'expired' })).toEqual([
      { kind: 'cancel-transfer', requestId: 'r', epoch: 2 },
      failed('expired'),
    ]);
  });
});

describe('answers meant for another fetch', () => {
  it.each([
    ['from another engine', { from: 'p1' }],
    ['to a question that was never asked', { attempt: 2 }],
    ['to another request', { requestId: 'x' }],
  ])('are ignored: %s', (_, overrides) => {
    accept();
    reserve(60);
    expect(answer(overrides)).toEqual([]);
  });

  it('are recognised when an earlier run of the request has asked', () => {
    accept('r', 2);
    reserve(60, 'r', 2);
    accept('r', 3);
    expect(reserve(60, 'r', 3)).toMatchObject([{ attempt: 2 }]);
    expect(answer({ attempt: 1, outcome: 'expired' })).toEqual([]);
    expect(finish()).toEqual([]);
  });
});

describe('heartbeats', () => {
  it('announce a fetch that waits for blocks at once, then every L/6 with the others', () => {
    accept('r');
    accept('s');
    expect(target.nextWakeUpUs()).toBe(0);
    expect(tick()).toEqual([{ kind: 'send-heartbeats', to: 'p0', requestIds: ['held', 'held'] }]);
    expect(target.nextWakeUpUs()).toBe(5 * SECOND);
    nowUs = 5 * SECOND;
    expect(tick()).toHaveLength(1);
    expect(target.nextWakeUpUs()).toBe(10 * SECOND);
  });

  it('leave the announcement to a read that follows in the same instant', () => {
    accept();
    reserve(60);
    expect(tick()).toEqual([]);
  });

  it('continue during the transfer and stop with the fetch', () => {
    accept();
    reserve(60);
    answer();
    nowUs = 5 * SECOND;
    expect(tick()).toMatchObject([{ kind: 'send-heartbeats' }]);
    finish();
    expect(target.nextWakeUpUs()).toBeUndefined();
  });

  it('go to each source separately', () => {
    accept('r');
    tell({
      kind: 'accepted',
      requestId: 's',
      epoch: 2,
      source: { ...source, engineId: 'p1', requestId: 's' },
    });
    expect(tick()).toEqual([
      { kind: 'send-heartbeats', to: 'p0', requestIds: ['held'] },
      { kind: 'send-heartbeats', to: 'p1', requestIds: ['s'] },
    ]);
  });
});

describe('ends from outside', () => {
  it('makes the source free at once when a request is aborted before it reads', () => {
    accept();
    expect(tell({ kind: 'aborted', requestId: 'r' })).toEqual([sentRelease, failed('aborted')]);
    expect(accept()).toEqual([]);
  });

  it('also ends the read and the transfer when it was under way', () => {
    accept();
    reserve(60);
    answer();
    expect(tell({ kind: 'aborted', requestId: 'r' })).toEqual([
      { kind: 'cancel-transfer', requestId: 'r', epoch: 2 },
      sentEnd('abandoned'),
      sentRelease,
      failed('aborted'),
    ]);
  });

  it('releases the source of a request whose abort came first', () => {
    tell({ kind: 'aborted', requestId: 'r' });
    expect(accept()).toEqual([sentRelease, failed('aborted')]);
    expect(accept()).toEqual([]);
  });

  it('keeps the blocks for the run that took over', () => {
    accept();
    reserve(60);
    expect(tell({ kind: 'superseded', requestId: 'r', epoch: 2 })).toEqual([
      sentEnd('abandoned'),
      failed('superseded'),
    ]);
  });

  it('releases the source once when it refuses a request that it never accepted', () => {
    const reject = () => tell({ kind: 'rejected', requestId: 'r', epoch: 2, source });
    expect(reject()).toEqual([sentRelease, failed('rejected')]);
    expect(reject()).toEqual([]);
  });

  it('loses every fetch from a lost source and no other', () => {
    accept('r');
    accept('s');
    reserve(60, 's');
    answer({ requestId: 's' });
    tell({ kind: 'accepted', requestId: 't', epoch: 2, source: { ...source, engineId: 'p1' } });
    expect(tell({ kind: 'source-lost', engineId: 'p0' })).toEqual([
      failed('lost'),
      { kind: 'cancel-transfer', requestId: 's', epoch: 2 },
      { ...failed('lost'), requestId: 's' },
    ]);
    expect(target.snapshot()).toMatchObject([{ requestId: 't' }]);
  });
});

describe('the share of the link', () => {
  it('is passed on only while something comes from that source', () => {
    accept();
    reserve(60);
    const share = () => tell({ kind: 'share-changed', from: 'p0', activeReads: 4 });
    expect(share()).toEqual([]);
    answer();
    expect(share()).toEqual([{ kind: 'set-share', sourceId: 'p0', activeReads: 4 }]);
  });
});
