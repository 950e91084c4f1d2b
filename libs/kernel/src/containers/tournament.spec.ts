import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tournament } from './tournament';

interface Entry {
  readonly place: number;
  readonly key: number;
  readonly tie: number;
}

/** The plain form of the rule: a scan over all places. */
function firstByScan(entries: ReadonlyMap<number, Entry>): number {
  const inOrder = [...entries.values()].sort((a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -1 : 1;
    return a.tie === b.tie ? a.place - b.place : a.tie - b.tie;
  });
  return inOrder[0]!.place;
}

describe('the first of a tournament', () => {
  const entry = fc.record({
    place: fc.nat(40),
    // Few keys and ties, so that equal ones are common.
    key: fc.oneof(fc.nat(6), fc.constant(Infinity)),
    tie: fc.nat(2),
  });

  it('equals the result of a scan over all places, after any settings', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 200 }), fc.constantFrom(0, 2, 64), (moves, size) => {
        const tournament = new Tournament(size);
        const entries = new Map<number, Entry>();
        for (const move of moves) {
          tournament.set(move.place, move.key, move.tie);
          entries.set(move.place, move);
          const { key } = entries.get(firstByScan(entries))!;
          expect(tournament.firstKey).toBe(key);
          expect(tournament.keyOf(move.place)).toBe(move.key);
          if (key < Infinity) expect(tournament.first).toBe(firstByScan(entries));
        }
      }),
    );
  });

  it('has no key before one is set', () => {
    expect(new Tournament(5).firstKey).toBe(Infinity);
  });
});
