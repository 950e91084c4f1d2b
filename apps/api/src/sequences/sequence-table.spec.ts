import type { EngineJob } from '@baton/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sequence, SequenceOwner } from './sequence';
import { SequenceTable } from './sequence-table';

const OWNER = { isDirty: false } as SequenceOwner;

function open(table: SequenceTable): Sequence {
  const [streamId] = table.nextIds(1);
  const job = { streamId, submission: 1 } as EngineJob;
  return table.open(OWNER, { index: 0, job, nowMs: 0 });
}

describe('the sequence table', () => {
  it('finds a sequence by the id that its job carries', () => {
    const table = new SequenceTable(4);
    const sequence = open(table);
    expect(sequence.job.streamId).toBe(sequence.streamId);
    expect(table.get(sequence.streamId)).toBe(sequence);
  });

  it('names the streams of several sequences before they are opened', () => {
    const table = new SequenceTable(4);
    table.release(open(table));
    const ids = table.nextIds(3);
    expect(ids.map(() => open(table).streamId)).toEqual(ids);
  });

  it('does not deliver late frames to the next user of a slot', () => {
    const table = new SequenceTable(1);
    const gone = open(table);
    table.release(gone);
    const next = open(table);
    expect(next.streamId).not.toBe(gone.streamId);
    expect(table.get(gone.streamId)).toBeUndefined();
    expect(table.get(next.streamId)).toBe(next);
  });

  it('is bounded', () => {
    const table = new SequenceTable(2);
    open(table);
    expect(table.hasRoom(1)).toBe(true);
    expect(table.hasRoom(2)).toBe(false);
  });

  it('holds exactly the sequences that were opened and not closed, over any history', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 200 }), (choices) => {
        const table = new SequenceTable(4);
        const live: Sequence[] = [];
        for (const choice of choices) {
          if (choice < 3 && table.hasRoom(1)) live.push(open(table));
          else for (const gone of live.splice(choice % 4, 1)) table.release(gone);
          expect(table.size).toBe(live.length);
          expect(new Set(table)).toEqual(new Set(live));
          for (const sequence of live) expect(table.get(sequence.streamId)).toBe(sequence);
        }
      }),
      { numRuns: 500 },
    );
  });
});
