import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashedIndex } from './hashed-index';

const NUMBERS = 24;

/** Hashes from a small set, so that they meet, of all magnitudes that callers use. */
const anyHash = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 1, max: 9 }).map((n) => n * 2 ** 32),
  fc.integer({ min: 0, max: 9 }).map((n) => 2 ** 53 - 1 - n),
);

describe('HashedIndex', () => {
  it('agrees with a map after any sequence of additions and removals', () => {
    const operation = fc.record({ number: fc.nat(NUMBERS - 1), hash: anyHash });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 120 }), (operations) => {
        const index = new HashedIndex(NUMBERS);
        const model = new Map<number, number>();
        for (const { number, hash } of operations) {
          const present = index.hashOf(number);
          if (present !== 0) {
            index.remove(number);
            model.delete(present);
          } else {
            expect(index.add(hash, number)).toBe(!model.has(hash));
            if (!model.has(hash)) model.set(hash, number);
          }
          expect(index.size).toBe(model.size);
          for (const [key, value] of model) expect(index.find(key)).toBe(value);
          expect(index.find(present)).toBe(-1);
        }
      }),
      { numRuns: 300 },
    );
  });
});
