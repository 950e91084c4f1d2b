import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockList, BlockPool, PrefixMatch } from './index';

const FAMILIES = 3;
const LENGTH = 6;

/** Chained hashes as a prompt has them: families share nothing, members of one share all. */
const hashesOf = (family: number): number[] =>
  Array.from({ length: LENGTH }, (_, i) => (family + 1) * 1000 + i);

type Operation =
  | { readonly kind: 'start'; readonly family: number; readonly blocks: number }
  | { readonly kind: 'grow'; readonly owner: number }
  | { readonly kind: 'release'; readonly owner: number };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    kind: fc.constant('start' as const),
    family: fc.nat(FAMILIES - 1),
    blocks: fc.integer({ min: 1, max: LENGTH }),
  }),
  fc.record({ kind: fc.constant('grow' as const), owner: fc.nat(9) }),
  fc.record({ kind: fc.constant('release' as const), owner: fc.nat(9) }),
);

/** Does to a pool what an engine does, and keeps the owners. */
class Owners {
  readonly lists: BlockList[] = [];
  private readonly found = new PrefixMatch();

  constructor(private readonly pool: BlockPool) {}

  apply(op: Operation): void {
    if (op.kind === 'start') {
      this.start(hashesOf(op.family), op.blocks);
      return;
    }
    const list = this.lists[op.owner % Math.max(1, this.lists.length)];
    if (list === undefined) return;
    if (op.kind === 'grow') this.pool.take(1, list);
    else this.pool.release(list);
  }

  private start(hashes: number[], blocks: number): void {
    const { pool, found } = this;
    const list = new BlockList();
    list.describe(hashes);
    pool.match(list, blocks, found);
    const fresh = blocks - found.length;
    if (fresh > pool.freeBlocks - found.idle) return;
    pool.share(found, list);
    expect(pool.take(fresh, list)).toBe(true);
    pool.publish(list, blocks);
    this.lists.push(list);
  }
}

describe('BlockPool over random owners (INV-2)', () => {
  it('conserves blocks and references after every operation, and is empty at rest', () => {
    const scenario = fc.tuple(
      fc.integer({ min: 1, max: 20 }),
      fc.array(operation, { maxLength: 60 }),
    );
    fc.assert(
      fc.property(scenario, ([numBlocks, operations]) => {
        const pool = new BlockPool({ numBlocks, enablePrefixCaching: true });
        const owners = new Owners(pool);
        for (const op of operations) {
          owners.apply(op);
          pool.audit(owners.lists);
          expect(pool.freeBlocks + pool.usedBlocks).toBe(numBlocks);
        }
        owners.lists.forEach((list) => pool.release(list));
        expect(pool.usedBlocks).toBe(0);
        expect([...pool.freeOrder()].sort((a, b) => a - b)).toEqual([...Array(numBlocks).keys()]);
      }),
      { numRuns: 500 },
    );
  });
});
