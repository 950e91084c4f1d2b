import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIndex } from './create-index';
import { DENSE_CONTENTS_MAX, DenseIndex } from './dense-index';

const BLOCKS = 24;
const CONTENTS = 3_000;

/** Hashes from a small set, so that they meet, of all magnitudes that callers use. */
const anyHash = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 1, max: 9 }).map((n) => n * 2 ** 32),
  fc.integer({ min: 0, max: 9 }).map((n) => 2 ** 53 - 1 - n),
);
const denseId = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: CONTENTS - 9, max: CONTENTS }),
);

describe.each([
  { kind: 'any hashes', contentCount: 0, hash: anyHash },
  { kind: 'dense content ids', contentCount: CONTENTS, hash: denseId },
])('the prefix index over $kind', ({ contentCount, hash }) => {
  it('agrees with a map, whatever is added and removed in whatever order', () => {
    const operation = fc.record({ block: fc.nat(BLOCKS - 1), hash });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 120 }), (operations) => {
        const index = createIndex(BLOCKS, contentCount);
        const model = new Map<number, number>();
        for (const { block, hash } of operations) {
          const present = index.hashOf(block);
          if (present !== 0) {
            index.remove(block);
            model.delete(present);
          } else {
            expect(index.add(hash, block)).toBe(!model.has(hash));
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

describe('dense content ids', () => {
  it('are looked up by number up to a bound of memory, and hashed beyond', () => {
    expect(createIndex(BLOCKS, DENSE_CONTENTS_MAX)).toBeInstanceOf(DenseIndex);
    expect(createIndex(BLOCKS, DENSE_CONTENTS_MAX + 1)).not.toBeInstanceOf(DenseIndex);
    expect(createIndex(BLOCKS)).not.toBeInstanceOf(DenseIndex);
  });

  it('must not be larger than was announced', () => {
    const index = createIndex(BLOCKS, 5);
    expect(index.add(5, 0)).toBe(true);
    expect(() => index.add(2_000, 1)).toThrow(/beyond the 5/);
  });
});
