import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { BlockList, BlockPool, type BlockPoolOptions, PrefixMatch } from './';
import { type NaiveBlock, NaivePool } from '../test/naive-pool';

const FAMILIES = 3;
const LENGTH = 6;
/** First contents; dense ids lie on both sides of page boundaries. */
const FIRST_CONTENTS = [253, 509, 700];
const CONTENTS = 705;

/**
 * Chained hashes as prompts have them: members of one family share all, the last two families share
 * their first half, the others nothing. Some prompts have a private block inside.
 */
const hashesOf = (family: number, gapAt: number): number[] =>
  Array.from({ length: LENGTH }, (_, i) => {
    const isCommon = family === FAMILIES - 1 && i < LENGTH / 2;
    return i === gapAt ? 0 : FIRST_CONTENTS[isCommon ? family - 1 : family]! + i;
  });

type Operation =
  | {
      readonly kind: 'start';
      readonly family: number;
      readonly gapAt: number;
      readonly blocks: number;
    }
  | { readonly kind: 'grow' | 'fill' | 'release' | 'ids'; readonly owner: number };

const owner = fc.nat(9);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    kind: fc.constant('start' as const),
    family: fc.nat(FAMILIES - 1),
    gapAt: fc.oneof(fc.constant(LENGTH), fc.nat(LENGTH)),
    blocks: fc.integer({ min: 1, max: LENGTH }),
  }),
  ...(['grow', 'fill', 'release', 'ids'] as const).map((kind) =>
    fc.record({ kind: fc.constant(kind), owner }),
  ),
);

const scenario = fc.record({
  numBlocks: fc.integer({ min: 1, max: 20 }),
  contentCount: fc.constantFrom(0, CONTENTS),
  enablePrefixCaching: fc.constantFrom(true, true, false),
  evictionPolicy: fc.constantFrom('lru' as const, 'fifo' as const),
  operations: fc.array(operation, { maxLength: 60 }),
});

/**
 * Two owners compute the same content; the found block is evicted, its twin stays without a hash.
 */
const TWIN_OUTLIVED = {
  numBlocks: 8,
  contentCount: 0 as const,
  enablePrefixCaching: true,
  evictionPolicy: 'lru' as const,
  operations: [
    ...[0, 1].map(() => ({ kind: 'start' as const, family: 1, gapAt: LENGTH, blocks: 4 })),
    { kind: 'fill' as const, owner: 1 },
    { kind: 'fill' as const, owner: 0 },
    { kind: 'release' as const, owner: 1 },
    { kind: 'grow' as const, owner: 0 },
    { kind: 'fill' as const, owner: 0 },
  ],
};

/** A block is passed over while it is in use, and is free before a partial block is freed. */
const PARTIAL_AFTER_OVERDUE = {
  numBlocks: 4,
  contentCount: 0 as const,
  enablePrefixCaching: true,
  evictionPolicy: 'fifo' as const,
  operations: [
    { kind: 'start' as const, family: 1, gapAt: LENGTH, blocks: 1 },
    { kind: 'fill' as const, owner: 0 },
    { kind: 'start' as const, family: 0, gapAt: LENGTH, blocks: 3 },
    { kind: 'fill' as const, owner: 1 },
    { kind: 'release' as const, owner: 1 },
    { kind: 'start' as const, family: 2, gapAt: 0, blocks: 1 },
    { kind: 'release' as const, owner: 0 },
    { kind: 'release' as const, owner: 2 },
  ],
};

interface Owner {
  readonly list: BlockList;
  naive: NaiveBlock[];
  readonly hashes: readonly number[];
}

/** Applies an engine's operations to a pool and to the naive one. */
class Owners {
  readonly all: Owner[] = [];
  readonly pool: BlockPool;
  readonly naive: NaivePool;
  private readonly found = new PrefixMatch();

  constructor(options: BlockPoolOptions) {
    this.pool = new BlockPool(options);
    this.naive = new NaivePool(options);
  }

  get lists(): BlockList[] {
    return this.all.map(({ list }) => list);
  }

  apply(op: Operation): void {
    if (op.kind === 'start') {
      this.start(hashesOf(op.family, op.gapAt), op.blocks);
      return;
    }
    const chosen = this.all[op.owner % Math.max(1, this.all.length)];
    if (chosen !== undefined) this.change(chosen, op.kind);
  }

  private change(chosen: Owner, kind: 'grow' | 'fill' | 'release' | 'ids'): void {
    const { pool, naive } = this;
    const { list, hashes } = chosen;
    if (kind === 'grow') {
      const isTaken = pool.take(1);
      expect(naive.take(1, chosen.naive)).toBe(isTaken);
      if (isTaken) list.add(1);
    } else if (kind === 'fill') {
      pool.publish(list, list.length);
      naive.publish(chosen.naive, hashes);
    } else if (kind === 'release') {
      pool.release(list);
      naive.release(chosen.naive);
      chosen.naive = [];
    } else {
      expect(new Set(pool.idsOf(list)).size).toBe(chosen.naive.length);
    }
  }

  private start(hashes: number[], blocks: number): void {
    const { pool, naive, found } = this;
    const list = new BlockList();
    list.describe(hashes);
    pool.match(list, blocks, found);
    const hit = naive.match(hashes, blocks);
    expect([found.length, found.idle]).toEqual([hit.length, hit.filter((b) => !b.owners).length]);
    const fresh = blocks - found.length;
    if (fresh > pool.freeBlocks - found.idle) return;
    pool.share(found, list);
    naive.share(hit);
    expect(pool.take(fresh) && naive.take(fresh, hit)).toBe(true);
    list.add(fresh);
    this.all.push({ list, naive: hit, hashes });
  }
}

describe('BlockPool over random owners', () => {
  it('conserves blocks and owners after every operation, and is empty at rest (INV-2)', () => {
    fc.assert(
      fc.property(scenario, ({ operations, ...options }) => {
        const owners = new Owners(options);
        const { pool } = owners;
        for (const op of operations) {
          owners.apply(op);
          pool.audit(owners.lists);
          expect(pool.freeBlocks + pool.usedBlocks).toBe(options.numBlocks);
        }
        owners.lists.forEach((list) => pool.release(list));
        pool.audit([]);
        expect(pool.usedBlocks).toBe(0);
        expect(pool.freeOrder()).toHaveLength(options.numBlocks);
      }),
      { numRuns: runsOf(500) },
    );
  });

  it('holds and evicts the same as a list of single blocks', () => {
    fc.assert(
      fc.property(scenario, ({ operations, ...options }) => {
        const owners = new Owners(options);
        for (const op of operations) {
          owners.apply(op);
          expect(owners.pool.freeOrder()).toEqual(owners.naive.freeOrder());
          expect(owners.pool.contents()).toEqual(owners.naive.contents());
        }
      }),
      { numRuns: runsOf(500), examples: [[TWIN_OUTLIVED], [PARTIAL_AFTER_OVERDUE]] },
    );
  });

  it('never gives the same id to two blocks', () => {
    fc.assert(
      fc.property(scenario, ({ operations, ...options }) => {
        const owners = new Owners(options);
        operations.forEach((op) => owners.apply(op));
        const { pool } = owners;
        const ids = owners.lists.flatMap((list) => pool.idsOf(list));
        expect(new Set(ids).size).toBe(pool.usedBlocks);
        pool.audit(owners.lists);
      }),
      { numRuns: runsOf(200) },
    );
  });
});
