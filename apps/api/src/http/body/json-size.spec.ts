import { BatonError } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { checkJsonSize } from './json-size';

/** Memory that V8 adds for a thread that has reached its heap limit. */
const GRANTED_BYTES = 16 * 1024 * 1024;
const WORD_BYTES = 8;

/** Bytes of a list that is about to have this many values (V8: half of them more, and 16). */
function listBytes(values: number): number {
  return WORD_BYTES * (values + (values >> 1) + 16);
}

/** Bytes of the table of so many members: three words a place (V8: `ComputeCapacity`). */
function tableBytes(members: number): number {
  return 3 * WORD_BYTES * 2 ** Math.ceil(Math.log2(members + (members >> 1)));
}

function marks(mark: string, count: number): Uint8Array {
  return new Uint8Array(count + 1).fill(mark.charCodeAt(0), 1);
}

describe('the size of JSON', () => {
  it.each([
    ['{', 250_000],
    ['[', 250_000],
    [':', 340_000],
    [',', 1_300_000],
  ])('is refused with more than its limit of %s, %i', (mark, most) => {
    expect(() => checkJsonSize(marks(mark, most))).not.toThrow();
    expect(() => checkJsonSize(marks(mark, most + 1))).toThrow(
      new BatonError('request_too_complex'),
    );
  });

  it('keeps each list and table below what a thread gets beyond its heap limit', () => {
    expect(listBytes(1_300_000 + 1)).toBeLessThan(GRANTED_BYTES);
    expect(tableBytes(340_000)).toBeLessThan(GRANTED_BYTES);
  });
});
