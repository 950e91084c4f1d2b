import {
  emptyFrameEntry,
  type EngineJob,
  type FrameEntry,
  type FrameHeader,
  packEpoch,
} from '@baton/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { Sequence, type SequenceOwner } from './sequence';

const OWNER: SequenceOwner = {
  isDirty: false,
  onNote: () => undefined,
  onTokens: () => undefined,
  onEnd: () => undefined,
  onFailure: () => undefined,
  flush: () => undefined,
};

const HEADER: FrameHeader = { engineId: 'e', stage: 'decode', stepEndUs: 0 };

function job(outputTokens: number): EngineJob {
  return {
    requestId: 'r-0',
    submission: 1,
    apiId: 'api',
    streamId: 0,
    causeUs: 0,
    arrivalUs: 0,
    promptTokens: 10,
    blockHashes: [],
    outputTokens,
    endReason: 'stop',
    maxTokens: outputTokens,
    priority: 0,
    flow: 'route',
  };
}

function fresh(outputTokens = 5): Sequence {
  return new Sequence(0, job(outputTokens), OWNER, 0);
}

function entry(part: Partial<FrameEntry>): FrameEntry {
  return { ...emptyFrameEntry(), epoch: packEpoch(1, 1), ...part };
}

const token = (index: number, epoch = packEpoch(1, 1)): FrameEntry =>
  entry({ kind: 'tokens', first: index, count: 1, epoch });

describe('a sequence', () => {
  it('accepts tokens in order and ends with the last one', () => {
    const sequence = fresh(3);
    expect(sequence.accept(token(0), HEADER, 1)).toBe('advanced');
    expect(sequence.accept(token(1), HEADER, 2)).toBe('advanced');
    const end = entry({ kind: 'end', reason: 'stop', first: 3, count: 1 });
    expect(sequence.accept(end, HEADER, 3)).toBe('ended');
    expect(sequence.received).toBe(3);
    expect(sequence.endReason).toBe('stop');
  });

  it('accepts only the new tokens of an overlapping entry', () => {
    const sequence = fresh();
    sequence.accept(token(0), HEADER, 1);
    expect(sequence.accept(entry({ first: 0, count: 3 }), HEADER, 2)).toBe('advanced');
    expect(sequence.received).toBe(3);
    expect(sequence.accept(token(1), HEADER, 3)).toBe('noted');
  });

  it('accepts nothing beyond a gap, not even the end', () => {
    const sequence = fresh(4);
    sequence.accept(token(0), HEADER, 1);
    expect(sequence.accept(token(2), HEADER, 2)).toBe('gap');
    expect(
      sequence.accept(entry({ kind: 'end', reason: 'stop', first: 4, count: 1 }), HEADER, 3),
    ).toBe('gap');
    expect(sequence.received).toBe(1);
    expect(sequence.accept(entry({ first: 1, count: 3 }), HEADER, 4)).toBe('advanced');
    expect(sequence.gapMs).toBeUndefined();
  });

  it('ignores an older run once a newer one has begun', () => {
    const sequence = fresh();
    sequence.accept(token(0, packEpoch(1, 2)), HEADER, 1);
    expect(sequence.accept(token(1, packEpoch(1, 1)), HEADER, 2)).toBe('stale');
    expect(sequence.accept(token(1, packEpoch(2, 0)), HEADER, 3)).toBe('advanced');
  });

  it('repeats no token when a new run begins', () => {
    const sequence = fresh();
    for (const index of [0, 1, 2]) sequence.accept(token(index), HEADER, index);
    const again = packEpoch(1, 2);
    expect(sequence.accept(token(0, again), HEADER, 5)).toBe('noted');
    expect(sequence.accept(token(2, again), HEADER, 6)).toBe('noted');
    expect(sequence.accept(token(3, again), HEADER, 7)).toBe('advanced');
    expect(sequence.received).toBe(4);
  });

  it('fails with the code that the end carries, and only with codes of the catalogue', () => {
    const known = fresh();
    const end = entry({ kind: 'end', reason: 'error', tail: '"worker_lost"' });
    expect(known.accept(end, HEADER, 1)).toBe('failed');
    expect(known.errorCode).toBe('worker_lost');
    const unknown = fresh();
    unknown.accept(entry({ kind: 'end', reason: 'error', tail: 'boom' }), HEADER, 1);
    expect(unknown.errorCode).toBe('engine_error');
  });

  it('is fenced against everything before a resubmission', () => {
    const sequence = fresh();
    sequence.accept(token(0, packEpoch(3, 1)), HEADER, 1);
    expect(sequence.resubmitted(2)).toBe(4);
    expect(sequence.accept(token(1, packEpoch(3, 9)), HEADER, 3)).toBe('stale');
    expect(sequence.accept(token(1, packEpoch(4, 0)), HEADER, 4)).toBe('advanced');
  });

  it(
    'INV-7: never shows a token twice, out of order or unrequested, whatever happens to its ' +
      'frames',
    () => {
      const frames = fc.array(
        fc.record({
          first: fc.nat(12),
          count: fc.nat(4),
          run: fc.nat(3),
          isEnd: fc.boolean(),
        }),
        { maxLength: 60 },
      );
      fc.assert(
        fc.property(frames, (sent) => {
          const sequence = fresh(12);
          let shown = 0;
          for (const [at, { first, count, run, isEnd }] of sent.entries()) {
            const kind = isEnd ? 'end' : 'tokens';
            const total = isEnd ? first + count : first;
            const from = sequence.received;
            const given = entry({
              kind,
              first: total,
              count,
              epoch: packEpoch(1, run),
              reason: 'stop',
            });
            const verdict = sequence.accept(given, HEADER, at);
            expect(from).toBe(shown);
            if (verdict === 'advanced' || verdict === 'ended') {
              expect(first).toBeLessThanOrEqual(from);
              expect(sequence.received).toBe(Math.max(from, first + count));
            } else {
              expect(sequence.received).toBe(from);
            }
            shown = sequence.received;
          }
        }),
        { numRuns: runsOf(2_000) },
      );
    },
  );
});
