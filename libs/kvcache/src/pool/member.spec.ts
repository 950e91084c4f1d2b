import { describe, expect, it } from 'vitest';
import { KvPool } from './kv-pool';
import { KvPoolMember, type KvPoolTerms } from './member';
import { PoolFind } from './pool-find';

/** A block takes 10 µs on a link, and each node that is read from 100 µs more. */
const TERMS: KvPoolTerms = {
  blocks: 4,
  bytesPerBlock: 1_000,
  bytesPerSecond: 1e8,
  latencyUs: 100,
  balancingThreshold: 1,
  replicas: 0,
};

function poolOf(count: number, terms: Partial<KvPoolTerms> = {}) {
  const pool = new KvPool();
  const members = Array.from(
    { length: count },
    (_, node) => new KvPoolMember({ ...TERMS, ...terms }, pool, node),
  );
  return { pool, members };
}

const keep = (member: KvPoolMember | undefined, ...hashes: number[]): void =>
  member!.keep(hashes, { from: 0, count: hashes.length });

function found(member: KvPoolMember | undefined, ...hashes: number[]): PoolFind {
  const into = new PoolFind();
  member!.find(hashes, { from: 0, count: hashes.length }, into);
  return into;
}

describe('the memory of a node', () => {
  it('drops the least recently used block, and the tail of a list before its head', () => {
    const { members, pool } = poolOf(1);
    keep(members[0], 1, 2, 3);
    keep(members[0], 4, 5);
    expect(members[0]!.contents()).toEqual([2, 1, 5, 4]);
    expect(pool.holdersOf(3)).toEqual([]);
    expect(members[0]!.counters).toMatchObject({ stored: 5, evicted: 1 });
  });

  it('does not keep private blocks', () => {
    const { members } = poolOf(1);
    keep(members[0], 1, 0, -7);
    expect(members[0]!.contents()).toEqual([1]);
  });

  it('keeps blocks longer when other nodes have read them', () => {
    const { members } = poolOf(2);
    keep(members[0], 1, 2);
    keep(members[0], 3, 4);
    members[1]!.fetch(found(members[1], 1, 2), 0);
    keep(members[0], 5, 6);
    expect(members[0]!.contents()).toEqual([2, 1, 6, 5]);
  });
});

describe('a pool of nodes', () => {
  it('has a prefix up to the first block that no node holds', () => {
    const { members } = poolOf(3);
    keep(members[0], 1, 2);
    keep(members[1], 3);
    keep(members[2], 1, 9);
    const all = found(members[2], 1, 2, 3, 4, 9);
    expect(all).toMatchObject({ length: 3, leading: 1, local: 1, remote: 2 });
    expect(all.sources).toEqual([
      { node: 0, hashes: [2] },
      { node: 1, hashes: [3] },
    ]);
  });

  it('takes a latency for each node that is read, and the bytes after each other', () => {
    const { members } = poolOf(3);
    keep(members[0], 1, 2);
    keep(members[1], 3);
    expect(members[2]!.fetchUs(found(members[2], 1, 2, 3), 50)).toBe(100 + 20 + 100 + 10);
  });

  it('makes a second reader of a node wait until its link is free', () => {
    const { members } = poolOf(3);
    keep(members[0], 1, 2, 3);
    expect(members[1]!.fetch(found(members[1], 1, 2, 3), 1_000)).toBe(130);
    expect(members[2]!.fetchUs(found(members[2], 1), 1_060)).toBe(70 + 110);
    expect(members[2]!.fetchUs(found(members[2], 1), 1_130)).toBe(110);
  });

  it('reads a block that several nodes hold from the one whose link is free first', () => {
    const { members } = poolOf(4);
    for (const member of members.slice(0, 2)) keep(member, 1, 2);
    members[2]!.fetch(found(members[2], 1, 2), 0);
    expect(found(members[3], 1, 2).sources).toEqual([{ node: 1, hashes: [1, 2] }]);
  });

  it('keeps the allowed number of copies of a block', () => {
    const { members, pool } = poolOf(3, { replicas: 2 });
    for (const member of members) keep(member, 1);
    expect(pool.holdersOf(1)).toEqual([0, 1]);
    expect(members[2]!.contents()).toEqual([]);
  });

  it('loses blocks that only a lost node held', () => {
    const { members, pool } = poolOf(2);
    keep(members[0], 1, 2);
    keep(members[1], 2);
    pool.leave(0);
    expect(pool.size).toBe(1);
    expect(found(members[1], 2, 1)).toMatchObject({ length: 1, local: 1 });
  });

  it('forgets the memory of a node that is cleared', () => {
    const { members, pool } = poolOf(1);
    keep(members[0], 1, 2);
    members[0]!.clear();
    expect([pool.size, members[0]!.size]).toEqual([0, 0]);
  });
});
