import { beforeEach, describe, expect, it } from 'vitest';
import { BlockList } from './block-list';
import { BlockPool, PrefixMatch } from './block-pool';
import { GroupMatch } from './group-match';
import { type KvGroups, KvLayout } from './kv-layout';

const HASHES = [11, 12, 13, 14, 15, 16];
const BLOCKS = 40;

describe('a prompt in several groups of layers', () => {
  let pool: BlockPool;
  let layout: KvLayout;

  /** Blocks of 4 tokens; a window of 8 reaches back into two blocks. */
  function begin(kvGroups: KvGroups = { full: 1, windowed: 2, windowTokens: 8 }): void {
    layout = new KvLayout({ blockSize: 4, kvGroups, stepTokens: 64 });
    const groups = layout.perBlock;
    pool = new BlockPool({ numBlocks: BLOCKS, enablePrefixCaching: true, groups });
  }

  function listsOf(hashes: readonly number[] = HASHES): BlockList[] {
    const lists = Array.from({ length: layout.perBlock }, (_, group) =>
      Object.assign(new BlockList(), { group }),
    );
    for (const list of lists) list.describe(hashes);
    return lists;
  }

  /** A sequence that computes the whole prompt. */
  function computed(hashes: readonly number[] = HASHES): BlockList[] {
    const lists = listsOf(hashes);
    for (const list of lists) {
      pool.take(hashes.length);
      list.add(hashes.length);
      pool.publish(list, hashes.length);
    }
    return lists;
  }

  /** Blocks of a hit, and those found in the other groups. */
  function hitOf(hashes: readonly number[] = HASHES): [length: number, found: number] {
    const [first, ...others] = listsOf(hashes);
    const hit = new PrefixMatch();
    pool.match(first!, hashes.length, hit);
    const match = new GroupMatch(pool, layout);
    const length = match.match(others, hit.length);
    return [length, match.hits.reduce((sum, hit) => sum + hit.length, 0)];
  }

  beforeEach(() => begin());

  it('is a hit with only its window in windowed groups', () => {
    const lists = computed();
    for (const list of lists.slice(1)) pool.releaseHead(list, 4);
    pool.take(pool.freeBlocks);
    expect(hitOf()).toEqual([6, 2 * 2]);
  });

  it('is a hit only as far as every group has its window', () => {
    const lists = computed();
    pool.releaseHead(lists[1]!, 4);
    // Evicts 4 blocks in one of the groups.
    pool.take(pool.freeBlocks);
    expect(hitOf(HASHES.slice(0, 5))).toEqual([0, 0]);
    expect(hitOf()).toEqual([6, 4]);
  });

  it('may end before a block that a windowed group has lost', () => {
    const lists = computed();
    pool.release(lists[2]!);
    // The tail goes first.
    pool.take(pool.freeBlocks - 4);
    expect(hitOf()).toEqual([4, 4]);
    expect(hitOf(HASHES.slice(0, 3))).toEqual([3, 4]);
  });

  it('continues from the beginning of a chunk when attention is local to it', () => {
    begin({ full: 1, windowed: 1, windowTokens: 8, isChunked: true });
    const lists = computed();
    pool.releaseHead(lists[1]!, 4);
    pool.take(pool.freeBlocks);
    expect(hitOf()).toEqual([6, 0]);
    expect(hitOf(HASHES.slice(0, 5))).toEqual([5, 1]);
    expect(hitOf(HASHES.slice(0, 3))).toEqual([2, 0]);
  });

  it('takes what it has found out of the free blocks', () => {
    const lists = computed();
    for (const list of lists) pool.release(list);
    const [first, ...others] = listsOf();
    const hit = new PrefixMatch();
    pool.match(first!, HASHES.length, hit);
    const match = new GroupMatch(pool, layout);
    match.match(others, hit.length);
    expect([hit.idle, match.idle(0), match.idle(5)]).toEqual([6, 4, 2]);
    pool.share(hit, first!);
    match.share(others, 4);
    expect(pool.freeBlocks).toBe(BLOCKS - 6 - 4);
    expect(others.map(({ length, skipped }) => [length, skipped])).toEqual([
      [6, 4],
      [6, 4],
    ]);
    pool.audit([first!, ...others]);
    for (const list of [first!, ...others]) pool.release(list);
    expect(pool.freeBlocks).toBe(BLOCKS);
    pool.audit([]);
  });
});
