import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DenseIds } from './dense-ids';

describe('DenseIds', () => {
  const small = fc.nat(20_000);
  const large = fc.maxSafeNat();
  /** Ids with equal low bits, which a poor hash puts into one slot. */
  const aligned = fc.nat(2 ** 20).map((n) => n * 2 ** 32);

  it('numbers any ids by their first appearance', () => {
    const ids = fc.array(fc.oneof(small, large, aligned), { minLength: 1, maxLength: 5_000 });
    fc.assert(
      fc.property(ids, (shown) => {
        const dense = new DenseIds();
        const numbers = new Map<number, number>();
        for (const id of [...shown, ...shown]) {
          if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
          expect(dense.of(id)).toBe(numbers.get(id));
        }
        expect(dense.size).toBe(numbers.size);
      }),
      { numRuns: 50 },
    );
  });

  it('finds an id that was hashed before the table grew to its size', () => {
    const dense = new DenseIds();
    const number = dense.of(30_000);
    for (let id = 0; id < 20_000; id++) dense.of(id);
    expect(dense.of(30_001)).toBe(20_002);
    expect(dense.of(30_000)).toBe(number);
  });
});
