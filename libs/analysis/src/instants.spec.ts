import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_ROWS, Instants, NEVER } from './instants';
import { type ByteStore, Spill } from './spill';

const ROWS = 2 * BLOCK_ROWS + 1;
const HOUR_US = 3_600e6;

class MemoryStore implements ByteStore {
  readonly pieces: Uint8Array[] = [];
  writes = 0;

  write(bytes: Uint8Array, place = this.pieces.length): number {
    this.writes += 1;
    this.pieces[place] = bytes.slice();
    return place;
  }

  read(bytes: Uint8Array, place: number): void {
    bytes.set(this.pieces[place]!);
  }
}

const entries = fc.array(
  fc.tuple(
    fc.integer({ min: 0, max: ROWS - 1 }),
    fc.oneof(
      fc.integer({ min: 0, max: 10 * HOUR_US }),
      fc.double({ min: 0, max: 1e15, noNaN: true }),
      fc.constantFrom(NEVER, 0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 2 ** 53),
    ),
  ),
);

describe('a column of instants', () => {
  it('has only NEVER at first', () => {
    expect([...new Instants(3)]).toEqual([NEVER, NEVER, NEVER]);
  });

  it.each([
    ['in memory', () => undefined],
    ['with one block in memory', () => new Spill(new MemoryStore(), 1)],
    ['with two blocks in memory', () => new Spill(new MemoryStore(), 2)],
  ])('keeps far, early and broken values and NEVER exactly, %s', (_name, spill) => {
    fc.assert(
      fc.property(entries, (each) => {
        const column = new Instants(ROWS, spill());
        const expected = new Map<number, number>();
        for (const [row, us] of each) {
          column.set(row, us);
          expected.set(row, us);
        }
        const rows = [...expected.keys(), 0, ROWS - 1];
        const found = rows.map((row) => column.at(row));
        expect(found).toEqual(rows.map((row) => expected.get(row) ?? NEVER));
      }),
    );
  });

  it('writes a block to the store again only after a change', () => {
    const store = new MemoryStore();
    const column = new Instants(ROWS, new Spill(store, 1));
    column.set(0, 5);
    column.set(BLOCK_ROWS, 6);
    expect(store.writes).toBe(1);
    for (let times = 0; times < 3; times++) {
      expect([...column].filter((us) => us !== NEVER)).toEqual([5, 6]);
    }
    expect(store.writes).toBe(2);
    column.set(0, 7);
    expect(column.at(BLOCK_ROWS)).toBe(6);
    expect(store.writes).toBe(3);
    expect(store.pieces.length).toBe(2);
  });
});
