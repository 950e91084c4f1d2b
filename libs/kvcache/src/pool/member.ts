import { assert, type Micros, RecentContents } from '@baton/kernel';
import { fetchTimeUs } from './fetch-time';
import type { KvPool } from './kv-pool';
import type { PoolFind, SourceBlocks } from './pool-find';

/** A part of a list of hashes. */
export interface HashRange {
  readonly from: number;
  readonly count: number;
}

/** A node's share in the pool, and its terms for reading the memory of others. */
export interface KvPoolTerms {
  /** KV blocks that the memory of the node holds, >= 1. */
  readonly blocks: number;
  /** Bytes of a block that one rank reads over its own link, > 0. */
  readonly bytesPerBlock: number;
  /** Rate of that link, > 0. */
  readonly bytesPerSecond: number;
  /** Time from a request to another node until its first byte, >= 0. */
  readonly latencyUs: Micros;
  /** `kvcache_balancing_threshold` of Mooncake's Conductor, >= 1: see `fetchPays`. */
  readonly balancingThreshold: number;
  /** Nodes that keep a copy of one block; 0: any number. */
  readonly replicas: number;
}

export interface MemberCounters {
  /** Blocks written to the memory of this node. */
  readonly stored: number;
  /** Blocks evicted for others. */
  readonly evicted: number;
  /** Blocks that were read from other nodes. */
  readonly fetched: number;
  /** Prefixes on other nodes that were computed instead, because that took less time. */
  readonly declined: number;
  /** Time that fetches took, waiting for links included. */
  readonly fetchUs: Micros;
}

/**
 * One node of the pool: its memory, which drops the least recently used block when it is full, and
 * the reads from the memory of other nodes. Its engine drives it: `find` what the pool has of a
 * prompt, `fetch` it, `keep` what is computed. A link serves one read after the other.
 */
export class KvPoolMember {
  private readonly memory: RecentContents;
  readonly counters = { stored: 0, evicted: 0, fetched: 0, declined: 0, fetchUs: 0 };

  constructor(
    readonly terms: KvPoolTerms,
    private readonly pool: KvPool,
    readonly node: number,
  ) {
    const { blocks, bytesPerBlock, bytesPerSecond } = terms;
    const { latencyUs, balancingThreshold, replicas } = terms;
    assert(Number.isInteger(blocks) && blocks >= 1, `a node gives blocks: ${blocks}`);
    assert(bytesPerBlock > 0, 'a block has bytes');
    assert(bytesPerSecond > 0, 'a link has a rate');
    assert(latencyUs >= 0, 'a latency is not negative');
    assert(balancingThreshold >= 1, 'the balancing threshold is at least 1');
    assert(Number.isInteger(replicas) && replicas >= 0, 'replicas are counted');
    this.memory = new RecentContents(blocks);
    pool.join(node, this);
  }

  /** Blocks in the memory of this node. */
  get size(): number {
    return this.memory.size;
  }

  /**
   * Finds the leading ones of these blocks, up to the first that no node holds or that is
   * private. Of several nodes it reads from the one that it reads from already, else from the one
   * whose link is free first.
   * Touches nothing; O(blocks found · copies).
   */
  find(hashes: ArrayLike<number>, range: HashRange, into: PoolFind): void {
    into.clear();
    for (let at = range.from; at < range.from + range.count; at++) {
      const hash = hashes[at]!;
      if (hash <= 0) return;
      if (this.memory.has(hash)) into.addLocal();
      else {
        const source = this.sourceOf(hash, into.sources.at(-1)?.node);
        if (source === undefined) return;
        into.addRemote(source, hash);
      }
    }
  }

  /** Time to read the blocks found on other nodes, including waits for links. */
  fetchUs(found: PoolFind, nowUs: Micros): Micros {
    let atUs = nowUs;
    for (const source of found.sources) atUs = this.readUntilUs(source, atUs);
    return atUs - nowUs;
  }

  /**
   * Reads the blocks found on other nodes: their links are busy meanwhile, and the blocks count as
   * used there. Returns the time it takes, as `fetchUs` does.
   */
  fetch(found: PoolFind, nowUs: Micros): Micros {
    const { pool, counters } = this;
    let atUs = nowUs;
    for (const source of found.sources) {
      atUs = this.readUntilUs(source, atUs);
      pool.fetched(source.node, source.hashes, atUs);
    }
    counters.fetched += found.remote;
    counters.fetchUs += atUs - nowUs;
    return atUs - nowUs;
  }

  /** Counts a prefix that is computed although other nodes have it. */
  decline(): void {
    this.counters.declined++;
  }

  /**
   * Stores blocks that are on the GPUs in the memory of this node, or marks them as used there: the
   * tail before the head, which is worth more. A block that enough other nodes hold is not stored.
   * Hashes of 0 and below are private.
   */
  keep(hashes: ArrayLike<number>, range: HashRange): void {
    for (let at = range.from + range.count - 1; at >= range.from; at--) {
      const hash = hashes[at]!;
      if (hash > 0) this.keepOne(hash);
    }
  }

  /** Another node has read these blocks here. */
  onRead(hashes: readonly number[]): void {
    for (let i = hashes.length - 1; i >= 0; i--) {
      if (this.memory.has(hashes[i]!)) this.memory.use(hashes[i]!);
    }
  }

  /** Drops everything. */
  clear(): void {
    this.counters.evicted += this.memory.size;
    this.memory.clear();
    this.pool.forget(this.node);
  }

  /** The blocks in memory, the least recently used first. O(capacity). */
  contents(): number[] {
    return this.memory.toArray();
  }

  private keepOne(hash: number): void {
    const { pool, node, memory, counters } = this;
    const isNew = !memory.has(hash);
    const { replicas } = this.terms;
    if (isNew && replicas > 0 && pool.holdersOf(hash).length >= replicas) return;
    const dropped = memory.use(hash);
    if (dropped !== 0) {
      counters.evicted++;
      pool.remove(node, dropped);
    }
    if (!isNew) return;
    counters.stored++;
    pool.add(node, hash);
  }

  private sourceOf(hash: number, current: number | undefined): number | undefined {
    const { pool, node } = this;
    let best: number | undefined;
    for (const holder of pool.holdersOf(hash)) {
      if (holder === node) continue;
      if (holder === current) return holder;
      if (best === undefined || pool.freeAtUs(holder) < pool.freeAtUs(best)) best = holder;
    }
    return best;
  }

  private readUntilUs({ node, hashes }: SourceBlocks, fromUs: Micros): Micros {
    const startUs = Math.max(fromUs, this.pool.freeAtUs(node));
    return startUs + fetchTimeUs(this.terms, hashes.length);
  }
}
