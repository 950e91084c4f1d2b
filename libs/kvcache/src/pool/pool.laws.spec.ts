import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KvPool } from './kv-pool';
import { KvPoolMember } from './member';
import { PoolFind } from './pool-find';

const visits = fc.array(
  fc.record({ node: fc.nat({ max: 3 }), prefix: fc.nat({ max: 4 }), blocks: fc.nat({ max: 9 }) }),
  { minLength: 1, maxLength: 60 },
);

/** Chained contents: block 3 of prefix 2 is 203, behind 201 and 202. */
const chain = (prefix: number, blocks: number): number[] =>
  Array.from({ length: blocks }, (_, i) => 100 * (prefix + 1) + i + 1);

/** Each visit fetches the pool's part of a prompt and then keeps all of it, as an engine does. */
function play(all: readonly { node: number; prefix: number; blocks: number }[], replicas: number) {
  const pool = new KvPool();
  const terms = { blocks: 7, bytesPerBlock: 100, bytesPerSecond: 1e6, latencyUs: 3 };
  const members = [0, 1, 2, 3].map(
    (node) => new KvPoolMember({ ...terms, balancingThreshold: 1, replicas }, pool, node),
  );
  const found = new PoolFind();
  const log: unknown[] = [];
  const stored = new Set<number>();
  for (const [turn, { node, prefix, blocks }] of all.entries()) {
    const hashes = chain(prefix, blocks);
    const range = { from: 0, count: blocks };
    members[node]!.find(hashes, range, found);
    for (const source of found.sources) {
      const held = members[source.node]!.contents();
      for (const hash of source.hashes) {
        expect(held).toContain(hash);
        expect(stored.has(hash)).toBe(true);
      }
    }
    const us = members[node]!.fetch(found, turn);
    members[node]!.keep(hashes, range);
    for (const hash of hashes) stored.add(hash);
    log.push([found.length, found.local, us]);
    for (const member of members) expect(member.size).toBeLessThanOrEqual(terms.blocks);
  }
  return { pool, members, log };
}

describe('a KV pool under random requests', () => {
  it('holds no more than its capacity, and is read only for blocks that it holds', () => {
    fc.assert(fc.property(visits, fc.nat({ max: 3 }), (all, replicas) => void play(all, replicas)));
  });

  it('records exactly the content of its nodes, within the limit of copies', () => {
    fc.assert(
      fc.property(visits, fc.nat({ max: 3 }), (all, replicas) => {
        const { pool, members } = play(all, replicas);
        const held = members.flatMap((member) => member.contents());
        expect(pool.size).toBe(new Set(held).size);
        for (const hash of held) {
          const nodes = members.filter((member) => member.contents().includes(hash));
          expect([...pool.holdersOf(hash)].sort()).toEqual(nodes.map(({ node }) => node));
          if (replicas > 0) expect(nodes.length).toBeLessThanOrEqual(replicas);
        }
        const sum = (key: 'stored' | 'evicted'): number =>
          members.reduce((total, { counters }) => total + counters[key], 0);
        expect(sum('stored') - sum('evicted')).toBe(held.length);
      }),
    );
  });

  it('gives equal results for equal requests', () => {
    fc.assert(
      fc.property(visits, fc.nat({ max: 3 }), (all, replicas) => {
        expect(play(all, replicas).log).toEqual(play(all, replicas).log);
      }),
    );
  });
});
