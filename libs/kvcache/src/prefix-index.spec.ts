import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefixIndex } from './prefix-index';

const BLOCKS = 24;

/** Hashes from a small set, so that they meet, of all magnitudes that callers use. */
const hash = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 1, max: 9 }).map((n) => n * 2 ** 32),
  fc.integer({ min: 0, max: 9 }).map((n) => 2 ** 53 - 1 - n),
);

describe('PrefixIndex', () => {
  it('agrees with a map, whatever is added and removed in whatever order', () => {
    const operation = fc.record({ block: fc.nat(BLOCKS - 1), hash });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 120 }), (operations) => {
        const index = new PrefixIndex(BLOCKS);
        const model = new Map<number, number>();
        for (const { block, hash } of operations) {
          const present = index.hashOf(block);
          if (present !== 0) {
            index.remove(block);
            model.delete(present);
          } else {
            index.add(hash, block);
            if (!model.has(hash)) model.set(hash, block);
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
