import { beforeEach, describe, expect, it } from 'vitest';
import { BlockList, BlockPool, PrefixMatch } from './';

const HASHES = [11, 12, 13];

describe.each([
  ['hashes of any kind', undefined],
  ['announced contents', 20],
])('a pool with %s that is to forget', (_, contentCount) => {
  let pool: BlockPool;

  beforeEach(() => {
    pool = new BlockPool({ numBlocks: 6, enablePrefixCaching: true, hostBlocks: 8, contentCount });
  });

  function fill(hashes: readonly number[]): BlockList {
    const list = new BlockList();
    list.describe(hashes);
    expect(pool.take(hashes.length)).toBe(true);
    list.add(hashes.length);
    pool.publish(list, hashes.length);
    return list;
  }

  function found(): PrefixMatch {
    const [wanted, match] = [new BlockList(), new PrefixMatch()];
    wanted.describe(HASHES);
    pool.match(wanted, HASHES.length, match);
    return match;
  }

  it('refuses while a block is in use, and changes nothing', () => {
    const list = fill(HASHES);
    expect(pool.forget(true)).toBe(false);
    expect(found().length).toBe(3);
    pool.audit([list]);
  });

  it('finds nothing afterwards except content of host memory', () => {
    pool.release(fill(HASHES));
    expect(found().length).toBe(3);
    expect(pool.forget(false)).toBe(true);
    expect([found().length, found().inHost]).toEqual([0, 3]);
    expect(pool.forget(true)).toBe(true);
    expect([found().length, found().inHost]).toEqual([0, 0]);
  });

  it('has all its blocks and keeps working', () => {
    pool.release(fill(HASHES));
    pool.forget(true);
    expect([pool.freeBlocks, pool.cachedBlocks]).toEqual([6, 0]);
    const again = fill([1, 2, 3, 4, 5, 6]);
    pool.audit([again]);
    pool.release(again);
    expect(pool.cachedBlocks).toBe(6);
    pool.audit([]);
  });
});
