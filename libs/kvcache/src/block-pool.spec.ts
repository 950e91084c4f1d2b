import { beforeEach, describe, expect, it } from 'vitest';
import { BlockList, BlockPool, PrefixMatch } from './';

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
    expect(pool.take(count)).toBe(true);
    list.add(count);
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
    expect(pool.take(2)).toBe(false);
    expect(list.length).toBe(3);
    expect(pool.freeBlocks).toBe(1);
    expect(pool.usage).toBe(0.75);
  });

  it('finds leading blocks up to the first missing one, at most the requested number', () => {
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
    expect(pool.idsOf(second)).toEqual(pool.idsOf(first));
    expect(pool.usedBlocks).toBe(2);
    expect(pool.ownersOf(first.ids[0]!)).toBe(2);
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

  it('takes freed blocks that were not full before those that a prompt can find', () => {
    const notFull = new BlockList();
    pool.release(owner(2, HASHES));
    pool.take(2);
    notFull.add(2);
    pool.release(notFull);
    owner(2);
    expect(hits(HASHES)).toBe(2);
  });

  it('evicts the least recently released first, and sharing renews', () => {
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

  it('raises the generation of an id with each new content, not with sharing', () => {
    const list = owner(4, HASHES);
    const id = pool.idsOf(list)[0]!;
    const before = pool.generationOf(id);
    pool.release(list);
    hits([101]);
    pool.share(found, list);
    expect(pool.generationOf(id)).toBe(before);
    pool.release(list);
    owner(4, [201, 202, 203, 204]);
    expect(pool.generationOf(id)).toBe(before + 1);
  });

  it('gives private blocks their own ids on request, and takes these back with the blocks', () => {
    const list = owner(3, [101]);
    const other = owner(1);
    const ids = pool.idsOf(list);
    expect(new Set([...ids, ...pool.idsOf(other)]).size).toBe(4);
    expect(pool.idsOf(list)).toEqual(ids);
    const before = pool.generationOf(ids[2]!);
    pool.release(list);
    expect(pool.freeBlocks).toBe(3);
    expect(pool.freeOrder()).toEqual([0, 0, 101]);
    pool.idsOf(owner(3));
    expect(pool.generationOf(ids[2]!)).toBe(before + 1);
  });

  it('publishes a block with an id when its content is full', () => {
    const list = new BlockList();
    list.describe(HASHES);
    pool.take(3);
    list.add(3);
    const ids = pool.idsOf(list);
    pool.publish(list, 2);
    hits(HASHES);
    expect([...found.ids.subarray(0, found.length)]).toEqual(ids.slice(0, 2));
    pool.audit([list]);
    pool.release(list);
    expect(pool.freeOrder()).toEqual([0, 0, 102, 101]);
    pool.audit([]);
  });

  it('keeps the first block of a content when the same is computed twice', () => {
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

  it('reports in an audit that a block was lost or assigned twice', () => {
    const list = owner(2);
    expect(() => pool.audit([])).toThrow(/lost count of its owners/);
    expect(() => pool.audit([list, list])).toThrow(/lost count of its owners/);
    expect(() => pool.audit([list])).not.toThrow();
  });

  it(
    'under fifo evicts the block filled first, used since or not, and one in use when it ' +
      'is free',
    () => {
      pool = new BlockPool({ numBlocks: 4, enablePrefixCaching: true, evictionPolicy: 'fifo' });
      const old = owner(1, [101]);
      const young = owner(2, [201, 202]);
      pool.release(young);
      pool.release(old);
      expect(pool.freeOrder()).toEqual([0, 101, 202, 201]);
      const again = new BlockList();
      hits([101]);
      pool.share(found, again);
      owner(1);
      pool.release(owner(1));
      expect(hits([201])).toBe(1);
      expect(hits([202])).toBe(0);
      pool.release(again);
      expect(pool.freeOrder()).toEqual([101, 201, 0]);
    },
  );
});
