import { assert, type Micros } from '@baton/kernel';
import type { KvPoolMember } from './member';

/** Receives the changes by members of this process, for other processes. */
export interface PoolListener {
  /** Called when the memory of a node holds a further block. */
  stored(node: number, hash: number): void;
  evicted(node: number, hash: number): void;
  cleared(node: number): void;
  /** Blocks of `source` were read; its link is busy until then. */
  fetched(source: number, hashes: readonly number[], untilUs: Micros): void;
}

const NOWHERE: readonly number[] = [];

/**
 * One process's view of the cluster's KV store: the nodes that hold each block, and the end of each
 * link's current reads. On the virtual clock all members share one; live, each engine has its own
 * and receives the changes of the others as messages. It decides nothing and has no capacity:
 * members store and evict in the memory of their own node.
 */
export class KvPool {
  /** Nodes that hold a block, in the order in which they stored it. */
  private readonly holders = new Map<number, number[]>();
  private readonly members = new Map<number, KvPoolMember>();
  private readonly busyUntilUs: Micros[] = [];

  /** @param listener undefined: every member is in this process */
  constructor(private readonly listener?: PoolListener) {}

  /** Blocks that some node holds. */
  get size(): number {
    return this.holders.size;
  }

  join(node: number, member: KvPoolMember): void {
    assert(!this.members.has(node), `node ${node} is in the pool already`);
    this.members.set(node, member);
  }

  /** Removes a node and the blocks in its memory. O(blocks of the pool). */
  leave(node: number): void {
    this.members.delete(node);
    this.busyUntilUs[node] = 0;
    this.forget(node);
  }

  /** Records that the memory of a node is empty. O(blocks of the pool). */
  forget(node: number): void {
    for (const [hash, nodes] of this.holders) this.drop(node, hash, nodes);
    if (this.members.has(node)) this.listener?.cleared(node);
  }

  holdersOf(hash: number): readonly number[] {
    return this.holders.get(hash) ?? NOWHERE;
  }

  /** Instant at which the link of a node becomes free; 0: it is free. */
  freeAtUs(node: number): Micros {
    return this.busyUntilUs[node] ?? 0;
  }

  add(node: number, hash: number): void {
    const nodes = this.holders.get(hash);
    if (nodes === undefined) this.holders.set(hash, [node]);
    else if (!nodes.includes(node)) nodes.push(node);
    else return;
    if (this.members.has(node)) this.listener?.stored(node, hash);
  }

  remove(node: number, hash: number): void {
    const nodes = this.holders.get(hash);
    if (nodes === undefined || !this.drop(node, hash, nodes)) return;
    if (this.members.has(node)) this.listener?.evicted(node, hash);
  }

  /** A member has read these blocks of `source`: they count as used there. */
  fetched(source: number, hashes: readonly number[], untilUs: Micros): void {
    this.noteRead(source, hashes, untilUs);
    if (!this.members.has(source)) this.listener?.fetched(source, hashes, untilUs);
  }

  /** Like `fetched`, for a reader in another process. */
  noteRead(source: number, hashes: readonly number[], untilUs: Micros): void {
    this.busyUntilUs[source] = Math.max(this.freeAtUs(source), untilUs);
    this.members.get(source)?.onRead(hashes);
  }

  private drop(node: number, hash: number, nodes: number[]): boolean {
    const at = nodes.indexOf(node);
    if (at < 0) return false;
    if (nodes.length === 1) this.holders.delete(hash);
    else nodes.splice(at, 1);
    return true;
  }
}
