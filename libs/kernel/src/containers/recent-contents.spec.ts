import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentContents } from './recent-contents';

describe('RecentContents', () => {
  it('has the same content as a list in order of use, at every capacity', () => {
    const capacities = fc.constantFrom(0, 1, 7, 2_500);
    const uses = fc.array(fc.integer({ min: 1, max: 3_000 }), {
      maxLength: 4_000,
      size: 'max',
    });
    fc.assert(
      fc.property(capacities, uses, (capacity, hashes) => {
        const recent = new RecentContents(capacity);
        const model = new Set<number>();
        for (const hash of hashes) {
          model.delete(hash);
          model.add(hash);
          if (model.size > capacity) model.delete(model.values().next().value!);
          recent.use(hash);
        }
        expect(recent.toArray()).toEqual([...model]);
        expect(recent.size).toBe(model.size);
        expect(hashes.every((hash) => recent.has(hash) === model.has(hash))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
