import { beforeEach, describe, expect, it } from 'vitest';
import { BlockList, BlockPool, PrefixMatch } from './index';

const HASHES = [101, 102, 103, 104];

describe('BlockPool', () => {
  let pool: BlockPool;
  const found = new PrefixMatch();

  beforeEach(() => {
    pool = new BlockPool({ numBlocks: 4, enablePrefixCaching: true });
  });

  function owner(count: number, hashes: readonly number[] = []): BlockList {
    const list = new BlockList();
    list.describe(hashes);
    expect(pool.take(count, list)).toBe(true);
    pool.publish(list, count);
    return list;
  }

  function hits(hashes: readonly number[], maxBlocks = hashes.length): number {
    const wanted = new BlockList();
    wanted.describe(hashes);
    pool.match(wanted, maxBlocks, found);
    return found.length;
  }

  it('takes all or nothing', () => {
    const list = owner(3);
    expect(pool.take(2, list)).toBe(false);
    expect(list.length).toBe(3);
    expect(pool.freeBlocks).toBe(1);
    expect(pool.usage).toBe(0.75);
  });

  it('finds leading blocks up to the first that is not there, and no more than asked for', () => {
    owner(3, [101, 102, 103]);
    expect(hits([101, 102, 999, 103])).toBe(2);
    expect(hits([999, 101])).toBe(0);
    expect(hits([101, 102, 103], 1)).toBe(1);
  });

  it('counts every owner of a shared block and frees it with the last', () => {
    const first = owner(2, HASHES);
    const second = new BlockList();
    hits([101, 102]);
    pool.share(found, second);
    expect(second.toArray()).toEqual(first.toArray());
    expect(pool.usedBlocks).toBe(2);
    expect(pool.referencesOf(first.ids[0]!)).toBe(2);
    pool.release(first);
    expect(pool.usedBlocks).toBe(2);
    pool.release(second);
    expect(pool.usedBlocks).toBe(0);
    pool.audit([first, second]);
  });

  it('keeps the content of freed blocks until they are taken for something else', () => {
    const list = owner(2, HASHES);
    pool.release(list);
    expect(pool.cachedBlocks).toBe(2);
    expect(hits(HASHES)).toBe(2);
    expect(found.idle).toBe(2);
    owner(4);
    expect(pool.cachedBlocks).toBe(0);
    expect(hits(HASHES)).toBe(0);
  });

  it('evicts the tail of a released list before its head', () => {
    pool.release(owner(4, HASHES));
    owner(1);
    expect(hits(HASHES)).toBe(3);
    owner(2);
    expect(hits(HASHES)).toBe(1);
  });

  it('evicts what was released the longest ago first, and sharing renews', () => {
    const old = owner(1, [101]);
    const young = owner(1, [201]);
    owner(2);
    pool.release(old);
    pool.release(young);
    const again = new BlockList();
    hits([101]);
    pool.share(found, again);
    pool.release(again);
    owner(1);
    expect(hits([201])).toBe(0);
    expect(hits([101])).toBe(1);
  });

  it('raises the generation of a block with each new content, not with sharing', () => {
    const list = owner(4, HASHES);
    const block = list.ids[0]!;
    const before = pool.generationOf(block);
    pool.release(list);
    hits([101]);
    pool.share(found, list);
    expect(pool.generationOf(block)).toBe(before);
    pool.release(list);
    owner(4);
    expect(pool.generationOf(block)).toBe(before + 1);
  });

  it('lets the first block of a content stand for it when the same is computed twice', () => {
    const first = owner(1, [101]);
    const twin = owner(1, [101]);
    expect(pool.cachedBlocks).toBe(1);
    pool.release(twin);
    hits([101]);
    expect(found.ids[0]).toBe(first.ids[0]);
    expect(found.idle).toBe(0);
    pool.audit([first, twin]);
  });

  it('keeps blocks without a hash private', () => {
    owner(3, [101, 0]);
    expect(pool.cachedBlocks).toBe(1);
    expect(hits([101, 0])).toBe(1);
  });

  it('finds nothing when prefix caching is off', () => {
    pool = new BlockPool({ numBlocks: 4, enablePrefixCaching: false });
    pool.release(owner(4, HASHES));
    expect(hits(HASHES)).toBe(0);
    expect(pool.cachedBlocks).toBe(0);
  });

  it('tells in an audit that a block was lost or given twice', () => {
    const list = owner(2);
    expect(() => pool.audit([])).toThrow(/lost count of its owners/);
    expect(() => pool.audit([list, list])).toThrow(/lost count of its owners/);
    expect(() => pool.audit([list])).not.toThrow();
  });
});
