import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefixMemory } from './prefix-memory';

/** Blocks of a tree of prompts: the hash of a block names its path, as a chained hash does. */
function prompt(path: readonly number[]): number[] {
  let hash = 0;
  return path.map((step) => (hash = hash * 4 + step + 1));
}

const range = (blockHashes: readonly number[]) => ({
  blockHashes,
  blockFrom: 0,
  blockCount: blockHashes.length,
});

/** A plain implementation of what `PrefixMemory` promises. */
class Reference {
  private order: number[] = [];

  constructor(private readonly capacity: number) {}

  match(hashes: readonly number[]): number {
    const end = hashes.findIndex((hash) => !this.order.includes(hash));
    return end === -1 ? hashes.length : end;
  }

  record(hashes: readonly number[]): void {
    for (const hash of hashes.slice(0, this.capacity).toReversed()) {
      this.order = [...this.order.filter((known) => known !== hash), hash];
    }
    this.order = this.order.slice(-this.capacity);
  }
}

const path = fc.array(fc.nat(3), { maxLength: 20 });

describe('PrefixMemory', () => {
  it('has the same content as a list of the last used blocks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(path), (capacity, paths) => {
        const memory = new PrefixMemory(capacity);
        const reference = new Reference(capacity);
        for (const hashes of paths.map(prompt)) {
          expect(memory.match(range(hashes))).toBe(reference.match(hashes));
          memory.record(range(hashes));
          reference.record(hashes);
          expect(memory.match(range(hashes))).toBe(Math.min(hashes.length, capacity));
          expect(memory.size).toBeLessThanOrEqual(capacity);
        }
      }),
    );
  });

  it('grows with its content, up to its bound', () => {
    const memory = new PrefixMemory(5_000);
    const hashes = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => from + i);
    memory.record(range(hashes(1, 3_000)));
    memory.record(range(hashes(10_001, 1_500)));
    expect(memory.size).toBe(4_500);
    expect(memory.match(range(hashes(1, 3_000)))).toBe(3_000);
    memory.record(range(hashes(20_001, 1_000)));
    expect(memory.size).toBe(5_000);
    // The tail of the least recently used prompt was dropped.
    expect(memory.match(range(hashes(1, 3_000)))).toBe(2_500);
    expect(memory.match(range(hashes(10_001, 1_500)))).toBe(1_500);
  });

  it('reads the blocks of one request out of a column', () => {
    const memory = new PrefixMemory(10);
    const column = [1, 2, 3, 4, 5, 6];
    memory.record({ blockHashes: column, blockFrom: 2, blockCount: 3 });
    expect(memory.match({ blockHashes: column, blockFrom: 2, blockCount: 4 })).toBe(3);
    expect(memory.match({ blockHashes: column, blockFrom: 1, blockCount: 4 })).toBe(0);
  });

  it('neither stores nor finds private blocks and the blocks after them', () => {
    const memory = new PrefixMemory(10);
    memory.record(range([1, 2, 0, 4]));
    expect(memory.size).toBe(2);
    expect(memory.match(range([1, 2, 0, 4]))).toBe(2);
    expect(memory.match(range([0]))).toBe(0);
  });

  it('stores nothing with a capacity of 0', () => {
    const memory = new PrefixMemory(0);
    memory.record(range([1, 2]));
    expect(memory.match(range([1, 2]))).toBe(0);
  });
});
