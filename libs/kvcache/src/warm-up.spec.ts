import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockList, BlockPool, PrefixMatch, warmUp } from './';

const CONTENTS = 24;
const BLOCKS = 12;

/** Prompts of one group of layers, each a beginning of one of six texts. */
const prompts = fc.array(
  fc.record({
    first: fc.nat(5).map((text) => 4 * text + 1),
    blocks: fc.integer({ min: 1, max: 4 }),
    group: fc.nat(1),
  }),
  { maxLength: 30 },
);
type Prompt = typeof prompts extends fc.Arbitrary<readonly (infer P)[]> ? P : never;

interface Kind {
  readonly evictionPolicy: 'lru' | 'fifo';
  readonly contentCount: number | undefined;
}

function poolOf(kind: Kind, numBlocks = BLOCKS): BlockPool {
  return new BlockPool({ ...kind, numBlocks, enablePrefixCaching: true, groups: 2 });
}

/** Runs one prompt after the other: each takes its hits, fills the rest and ends. */
function run(pool: BlockPool, asked: readonly Prompt[]): number[] {
  const match = new PrefixMatch();
  return asked.map(({ first, blocks, group }) => {
    const list = new BlockList();
    list.group = group;
    list.describe(Array.from({ length: blocks }, (_, i) => first + i));
    pool.match(list, blocks, match);
    pool.share(match, list);
    expect(pool.take(blocks - match.length)).toBe(true);
    list.add(blocks - match.length);
    pool.publish(list, blocks);
    pool.release(list);
    return match.length;
  });
}

const contentsOf = (pool: BlockPool) => ({
  freeOrder: pool.freeOrder(),
  freeGroups: pool.freeGroups(),
});

describe.each<Kind>([
  { evictionPolicy: 'lru', contentCount: CONTENTS },
  { evictionPolicy: 'lru', contentCount: undefined },
  { evictionPolicy: 'fifo', contentCount: CONTENTS },
])('a pool that begins with the content of another ($evictionPolicy, $contentCount)', (kind) => {
  it('holds the same in the same order, and then finds and evicts the same', () => {
    fc.assert(
      fc.property(prompts, prompts, (before, after) => {
        const [used, warm] = [poolOf(kind), poolOf(kind)];
        run(used, before);
        warmUp(warm, contentsOf(used));
        expect(contentsOf(warm)).toEqual(contentsOf(used));
        expect(run(warm, after)).toEqual(run(used, after));
        expect(contentsOf(warm)).toEqual(contentsOf(used));
        warm.audit([]);
      }),
    );
  });

  it('keeps the blocks that would be evicted last when it has fewer blocks', () => {
    const [used, warm] = [poolOf(kind), poolOf(kind, 3)];
    run(used, [
      { first: 1, blocks: 4, group: 0 },
      { first: 9, blocks: 2, group: 1 },
    ]);
    warmUp(warm, contentsOf(used));
    expect(warm.freeOrder()).toEqual(used.freeOrder().slice(-3));
    warm.audit([]);
  });
});
