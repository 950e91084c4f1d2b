import { assert, EventQueue } from '@baton/kernel';
import { BlockRing } from './block-ring';
import type { FreeOrder } from './free-order';
import { SPAN } from './span-rows';

const { ROW } = SPAN;

/**
 * Evicts blocks in the order of filling, regardless of later use. A findable block gets its
 * place when it is filled and keeps it while it is used; a private one, whose content is lost, gets
 * its place when it is freed. A block in use when its turn comes is skipped and evicted first once
 * it is free: such blocks are *overdue*, and the one filled first comes first among them. Partial
 * blocks come before all others. Blocks of one span may have different places, so spans have only
 * one block.
 */
export class FifoOrder implements FreeOrder {
  readonly longestSpan = 1;
  size: number;
  private partial = 0;
  /** All findable blocks, in use or not, except overdue ones. */
  private readonly ring: BlockRing;
  /**
   * Overdue blocks that were free when they were added, by the time they were filled. One that is
   * used again stays until its turn.
   */
  private readonly overdue = new EventQueue();
  private readonly isOverdue: Uint8Array;
  private readonly isQueued: Uint8Array;
  private readonly filledAt: Float64Array;
  private fills = 0;

  /** All of `numBlocks` are free and private. */
  constructor(
    private readonly rows: Int32Array,
    numBlocks: number,
  ) {
    this.ring = new BlockRing(new Int32Array(rows.length));
    this.ring.appendPrivate(numBlocks);
    this.size = numBlocks;
    const ids = rows.length >> ROW;
    this.isOverdue = new Uint8Array(ids);
    this.isQueued = new Uint8Array(ids);
    this.filledAt = new Float64Array(ids);
  }

  get first(): number {
    const overdue = this.firstOverdue();
    return overdue < 0 ? this.ring.first : overdue;
  }

  filled(id: number): void {
    this.filledAt[id] = this.fills++;
    this.ring.append(id);
  }

  freed(id: number): void {
    this.size++;
    if (this.isOverdue[id] === 0 || this.isQueued[id] === 1) return;
    this.isQueued[id] = 1;
    this.overdue.push(this.filledAt[id]!, 0, id);
  }

  used(): void {
    this.size--;
  }

  split(): void {
    assert(false, 'a span of one block cannot be cut');
  }

  evicted(id: number): void {
    this.size--;
    if (this.isOverdue[id] === 0) {
      this.ring.remove(id);
      return;
    }
    this.overdue.pop();
    this.isQueued[id] = 0;
    this.isOverdue[id] = 0;
  }

  freedPrivate(count: number): void {
    this.ring.appendPrivate(count);
    this.size += count;
  }

  freedPartial(count: number): void {
    this.partial += count;
    this.size += count;
  }

  takePrivate(most: number): number {
    const { ring } = this;
    let taken = Math.min(most, this.partial);
    this.partial -= taken;
    while (taken < most && this.firstOverdue() < 0) {
      taken += ring.takePrivate(most - taken);
      const id = ring.first;
      if (taken === most || id < 0 || this.isFree(id)) break;
      ring.remove(id);
      this.isOverdue[id] = 1;
    }
    this.size -= taken;
    return taken;
  }

  toArray(): number[] {
    const { isOverdue, filledAt } = this;
    const isFree = (id: number) => id < 0 || this.isFree(id);
    const ids: number[] = [];
    for (let id = isOverdue.indexOf(1); id >= 0; id = isOverdue.indexOf(1, id + 1)) {
      if (isFree(id)) ids.push(id);
    }
    ids.sort((a, b) => filledAt[a]! - filledAt[b]!);
    const partial = Array.from({ length: this.partial }, () => -1);
    return [...partial, ...ids, ...this.ring.toArray().filter(isFree)];
  }

  private isFree(id: number): boolean {
    return this.rows[id << ROW]! > 0;
  }

  /** The first filled of the free overdue blocks, -1 without one. */
  private firstOverdue(): number {
    const { overdue } = this;
    while (overdue.size > 0) {
      const id = overdue.peek();
      if (this.isFree(id)) return id;
      overdue.pop();
      this.isQueued[id] = 0;
    }
    return -1;
  }
}
