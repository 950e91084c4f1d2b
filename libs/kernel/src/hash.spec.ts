import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainBlockHashes, hashString, mix, unitOf } from './hash';

const int53 = fc.maxSafeNat();
const tokens = fc.array(fc.nat(150_000), { maxLength: 200 });

describe('mix', () => {
  it('returns an integer of 53 bits', () => {
    fc.assert(
      fc.property(int53, int53, (a, b) => {
        const hash = mix(a, b);
        expect(Number.isSafeInteger(hash) && hash >= 0).toBe(true);
      }),
    );
  });

  it('distinguishes the order of its arguments', () => {
    expect(mix(1, 2)).not.toBe(mix(2, 1));
    expect(mix(0, 0)).not.toBe(0);
    expect(mix(5, 2 ** 40)).not.toBe(mix(5, 2 ** 41));
  });

  it('flips about half of the bits when one input bit flips', () => {
    let flipped = 0;
    for (let bit = 0; bit < 53; bit++) {
      const difference = BigInt(mix(12345, 678)) ^ BigInt(mix(12345, 678 + 2 ** bit));
      flipped += difference.toString(2).replaceAll('0', '').length;
    }
    expect(flipped / (53 * 53)).toBeGreaterThan(0.45);
    expect(flipped / (53 * 53)).toBeLessThan(0.55);
  });

  it('has no collision among the pairs of a small square', () => {
    const seen = new Set<number>();
    for (let a = 0; a < 300; a++) for (let b = 0; b < 300; b++) seen.add(mix(a, b));
    expect(seen.size).toBe(90_000);
  });

  it('spreads counters evenly over the unit interval', () => {
    const buckets = new Array<number>(10).fill(0);
    for (let i = 0; i < 10_000; i++) buckets[Math.floor(unitOf(mix(7, i)) * 10)]!++;
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe('hashString', () => {
  it('distinguishes names that share letters or a prefix, or differ only in length', () => {
    const names = ['', 'a', 'b', 'ab', 'ba', 'aa', 'aaa', 'arrivals', 'arrival', '\0', '\0\0'];
    expect(new Set(names.map(hashString)).size).toBe(names.length);
  });
});

describe('chainBlockHashes', () => {
  it('hashes full blocks only, to safe integers that are never 0', () => {
    fc.assert(
      fc.property(tokens, fc.integer({ min: 1, max: 32 }), int53, (ids, blockSize, salt) => {
        const hashes = chainBlockHashes(ids, blockSize, salt);
        expect(hashes).toHaveLength(Math.floor(ids.length / blockSize));
        expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash > 0)).toBe(true);
      }),
    );
  });

  it('shares exactly the blocks before the first different token', () => {
    fc.assert(
      fc.property(tokens, fc.nat(199), fc.constantFrom(1, 4, 16), (ids, position, blockSize) => {
        fc.pre(position < ids.length);
        const changed = ids.with(position, ids[position]! + 1);
        const a = chainBlockHashes(ids, blockSize, 9);
        const b = chainBlockHashes(changed, blockSize, 9);
        const shared = Math.floor(position / blockSize);
        expect(b.slice(0, shared)).toEqual(a.slice(0, shared));
        for (let i = shared; i < a.length; i++) expect(b[i]).not.toBe(a[i]);
      }),
    );
  });

  it('shares nothing under another salt or block size', () => {
    const ids = Array.from({ length: 64 }, (_, i) => i);
    const all = [
      ...chainBlockHashes(ids, 16, 1),
      ...chainBlockHashes(ids, 16, 2),
      ...chainBlockHashes(ids, 32, 1),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});
