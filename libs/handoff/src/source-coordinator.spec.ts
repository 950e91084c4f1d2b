import { beforeEach, describe, expect, it } from 'vitest';
import { leaseTimes } from './lease';
import { SourceCoordinator } from './source-coordinator';
import type { SourceAction, SourceFact } from './source-protocol';

const SECOND = 1_000_000;

let source: SourceCoordinator;
let nowUs: number;

beforeEach(() => {
  source = new SourceCoordinator({ lease: leaseTimes() });
  nowUs = 0;
});

type Untimed<F> = F extends { nowUs: number } ? Omit<F, 'nowUs'> : never;

function tell(fact: Untimed<SourceFact>): readonly SourceAction[] {
  return source.handle({ ...fact, nowUs } as SourceFact);
}

const hold = (epoch = 1) => tell({ kind: 'prompt-held', requestId: 'r', epoch, tokens: 100 });
const read = (overrides: Partial<Extract<SourceFact, { kind: 'read-requested' }>> = {}) =>
  tell({
    kind: 'read-requested',
    requestId: 'r',
    epoch: 1,
    generation: 1,
    reader: 'd0',
    readerRequestId: 'r',
    attempt: 1,
    ...overrides,
  });
const endRead = (outcome: 'done' | 'abandoned', reader = 'd0') =>
  tell({
    kind: 'read-ended',
    requestId: 'r',
    generation: 1,
    reader,
    readerRequestId: 'r',
    outcome,
  });
const heartbeat = () => tell({ kind: 'heartbeat', reader: 'd0', requestIds: ['r', 'unknown'] });
const tick = () => tell({ kind: 'tick' });

const released = (reason: string, readers = 0) => ({
  kind: 'release-blocks',
  requestId: 'r',
  epoch: 1,
  generation: 1,
  reason,
  readers,
});
const answered = (outcome: 'blocks' | 'expired', activeReads: number) => ({
  kind: 'answer-read',
  to: 'd0',
  readerRequestId: 'r',
  attempt: 1,
  outcome,
  heldTokens: outcome === 'blocks' ? 100 : 0,
  activeReads,
});

describe('a holding', () => {
  it('is handed over, read and released', () => {
    expect(hold()).toEqual([
      {
        kind: 'hand-over',
        requestId: 'r',
        epoch: 1,
        generation: 1,
        heldTokens: 100,
        leaseEndsUs: 30 * SECOND,
      },
    ]);
    expect(read()).toEqual([answered('blocks', 1)]);
    expect(endRead('done')).toEqual([released('read-done', 1)]);
    expect(source.nextWakeUpUs()).toBeUndefined();
    expect(source.counters).toMatchObject({ held: 1, reads: 1, released: { 'read-done': 1 } });
  });

  it('is released by `done` without a read, when the reader lacked nothing', () => {
    hold();
    expect(endRead('done')).toEqual([released('read-done')]);
  });

  it('waits for eight minutes when it is kept for the next turn, and is read like others', () => {
    const kept = {
      kind: 'prompt-held',
      requestId: 'r',
      epoch: 1,
      tokens: 100,
      isKept: true,
    } as const;
    expect(tell(kept)).toMatchObject([{ kind: 'hand-over', leaseEndsUs: 480 * SECOND }]);
    nowUs = 479 * SECOND;
    expect(heartbeat()).toEqual([]);
    nowUs = 485 * SECOND;
    expect(read()).toEqual([answered('blocks', 1)]);
    expect(endRead('done')).toEqual([released('read-done', 1)]);
    nowUs = 486 * SECOND;
    tell({ ...kept, requestId: 'next' });
    nowUs += 480 * SECOND;
    expect(tick()).toMatchObject([{ kind: 'release-blocks', reason: 'expired' }]);
  });

  it('expires at the end of its lease, not a microsecond earlier', () => {
    hold();
    expect(source.nextWakeUpUs()).toBe(30 * SECOND);
    nowUs = 30 * SECOND - 1;
    expect(tick()).toEqual([]);
    nowUs += 1;
    expect(tick()).toEqual([released('expired')]);
    expect(read()).toEqual([answered('expired', 0)]);
  });

  it('expires before a later fact even without a tick', () => {
    hold();
    nowUs = 31 * SECOND;
    expect(read()).toEqual([released('expired'), answered('expired', 0)]);
  });

  it('is in time for a heartbeat at the very end, which gives it 20 s more', () => {
    hold();
    nowUs = 30 * SECOND;
    heartbeat();
    expect(source.nextWakeUpUs()).toBe(50 * SECOND);
  });

  it('is not shortened by an early heartbeat', () => {
    hold();
    nowUs = 5 * SECOND;
    heartbeat();
    expect(source.nextWakeUpUs()).toBe(30 * SECOND);
  });

  it('treats a fact with an older instant as if it happened now', () => {
    hold();
    nowUs = 20 * SECOND;
    heartbeat();
    nowUs = 1 * SECOND;
    heartbeat();
    expect(source.nextWakeUpUs()).toBe(40 * SECOND);
  });

  it('outlasts its lease while it is read, and is released by `done`', () => {
    hold();
    nowUs = 29 * SECOND;
    read();
    nowUs = 31 * SECOND;
    expect(tick()).toEqual([]);
    expect(endRead('done')).toEqual([released('read-done', 1)]);
  });

  it('admits no further reader once its lease has ended, but answers a repeat of the current reader', () => {
    hold();
    nowUs = 29 * SECOND;
    read();
    nowUs = 31 * SECOND;
    expect(read({ reader: 'd1' })).toMatchObject([{ to: 'd1', outcome: 'expired' }]);
    expect(read({ attempt: 2 })).toMatchObject([{ to: 'd0', attempt: 2, outcome: 'blocks' }]);
  });

  it('is released when a silent reader times out, and reports that', () => {
    hold();
    nowUs = 29 * SECOND;
    read();
    nowUs = 59 * SECOND;
    expect(tick()).toEqual([answered('expired', 0), released('expired', 1)]);
    expect(source.counters.lostReads).toBe(1);
  });

  it('stays with a reader that sends heartbeats, however long the transfer takes', () => {
    hold();
    read();
    for (nowUs = 5 * SECOND; nowUs <= 200 * SECOND; nowUs += 5 * SECOND) {
      expect(heartbeat()).toEqual([]);
      expect(tick()).toEqual([]);
    }
    expect(endRead('done')).toEqual([released('read-done', 1)]);
  });

  it('stays after an abandoned read', () => {
    hold();
    read();
    expect(endRead('abandoned')).toEqual([]);
    expect(source.nextWakeUpUs()).toBe(30 * SECOND);
    expect(read({ attempt: 2 })).toMatchObject([{ outcome: 'blocks', activeReads: 1 }]);
  });
});

describe('a name that does not match', () => {
  it.each([
    ['another generation', { generation: 2 }],
    ['another epoch', { epoch: 2 }],
    ['an unknown request', { requestId: 'x' }],
  ])('is answered expired: %s', (_, overrides) => {
    hold();
    expect(read(overrides)).toEqual([answered('expired', 0)]);
    expect(source.counters).toMatchObject({ reads: 0, staleReads: 1 });
  });

  it('is answered expired after the blocks were consumed', () => {
    hold();
    read();
    endRead('done');
    expect(read({ attempt: 2 })).toMatchObject([{ attempt: 2, outcome: 'expired' }]);
  });

  it('ends no read of another generation', () => {
    hold();
    read();
    hold(2);
    expect(endRead('done')).toEqual([]);
    expect(source.snapshot()).toMatchObject([{ epoch: 2, generation: 2 }]);
  });

  it('of a former incarnation finds nothing, because generations start elsewhere', () => {
    source = new SourceCoordinator({ lease: leaseTimes(), firstGeneration: 1_000 });
    hold();
    expect(read()).toEqual([answered('expired', 0)]);
  });
});

describe('repeats', () => {
  it('of a request are answered again and counted once', () => {
    hold();
    read();
    expect(read({ attempt: 2 })).toMatchObject([{ outcome: 'blocks', activeReads: 1 }]);
    expect(source.counters.reads).toBe(1);
  });

  it('of a request that was abandoned meanwhile open nothing', () => {
    hold();
    read();
    endRead('abandoned');
    expect(read()).toEqual([]);
    expect(source.snapshot()).toMatchObject([{ reads: [] }]);
  });

  it('of a hold do nothing, before and after its end', () => {
    hold();
    expect(hold()).toEqual([]);
    endRead('done');
    expect(hold()).toEqual([]);
    expect(endRead('done')).toEqual([]);
  });
});

describe('ends from outside', () => {
  it('frees at once on an abort, and notifies the readers', () => {
    hold();
    read();
    expect(tell({ kind: 'aborted', requestId: 'r' })).toEqual([
      answered('expired', 0),
      released('aborted', 1),
    ]);
  });

  it('releases a prompt whose abort came first', () => {
    tell({ kind: 'aborted', requestId: 'r' });
    expect(hold()).toEqual([released('aborted')]);
    expect(hold()).toEqual([]);
  });

  it('replaces a holding by that of a newer run', () => {
    hold(1);
    expect(hold(2)).toMatchObject([
      { kind: 'release-blocks', epoch: 1, reason: 'superseded' },
      { kind: 'hand-over', epoch: 2, generation: 2 },
    ]);
    expect(hold(1)).toEqual([]);
  });

  it('releases a run that comes after a newer one', () => {
    hold(2);
    expect(hold(1)).toMatchObject([{ kind: 'release-blocks', epoch: 1, reason: 'superseded' }]);
    expect(source.snapshot()).toMatchObject([{ epoch: 2 }]);
  });

  it('releases when the ledger refuses the hand-over, and keeps a newer run', () => {
    hold(1);
    expect(tell({ kind: 'superseded', requestId: 'r', epoch: 1 })).toEqual([
      released('superseded'),
    ]);
    hold(3);
    expect(tell({ kind: 'superseded', requestId: 'r', epoch: 2 })).toEqual([]);
  });

  it('frees on the reader’s release, but not under another reader', () => {
    hold();
    read();
    read({ reader: 'd1' });
    expect(tell({ kind: 'release-requested', requestId: 'r', reader: 'd0' })).toEqual([
      { kind: 'share-changed', readers: ['d1'], activeReads: 1 },
    ]);
    expect(endRead('abandoned', 'd1')).toEqual([released('rejected', 2)]);
  });

  it('ignores a release that names another generation', () => {
    hold();
    expect(
      tell({ kind: 'release-requested', requestId: 'r', reader: 'd0', generation: 9 }),
    ).toEqual([]);
  });
});

describe('the share of the link', () => {
  it('is sent to the current readers when a read begins or ends', () => {
    hold();
    tell({ kind: 'prompt-held', requestId: 's', epoch: 1, tokens: 50 });
    read();
    expect(read({ requestId: 's', generation: 2, reader: 'd1' })).toMatchObject([
      { kind: 'answer-read', to: 'd1', activeReads: 2 },
      { kind: 'share-changed', readers: ['d0'], activeReads: 2 },
    ]);
    expect(endRead('done')).toMatchObject([
      { kind: 'release-blocks' },
      { kind: 'share-changed', readers: ['d1'], activeReads: 1 },
    ]);
  });
});
