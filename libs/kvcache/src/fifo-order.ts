import { EventQueue } from '@baton/kernel';
import { BlockRing } from './block-ring';
import { type BlockTable, FIELDS } from './block-table';
import type { FreeOrder } from './free-order';

// Bound here: an imported name is read through a getter each time.
const { ROW } = FIELDS;

/**
 * First filled, first given up, whether a block was used since or not. A findable block takes its place when it is filled and keeps it while it is
 * used; a private one, of whose content nothing is left, takes its place when it is freed. Whoever is in use when its turn comes is passed over and
 * given up first once it is free: those are *overdue*, and among them the one filled first comes first.
 */
export class FifoOrder implements FreeOrder {
  size: number;
  /** All findable blocks, in use or not, but the overdue ones. */
  private readonly ring: BlockRing;
  /** Overdue blocks that were free when they came in, by when they were filled. One that is used again stays until it comes out. */
  private readonly overdue = new EventQueue();
  private readonly isOverdue: Uint8Array;
  private readonly isQueued: Uint8Array;
  private readonly filledAt: Float64Array;
  private fills = 0;

  private readonly rows: Int32Array;

  /** All of `numBlocks` are free and private. */
  constructor(table: BlockTable, numBlocks: number) {
    this.rows = table.rows;
    this.ring = new BlockRing(table);
    this.ring.appendPrivate(numBlocks);
    this.size = numBlocks;
    const ids = table.rows.length >> ROW;
    this.isOverdue = new Uint8Array(ids);
    this.isQueued = new Uint8Array(ids);
    this.filledAt = new Float64Array(ids);
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

  freedPrivate(count: number): void {
    this.ring.appendPrivate(count);
    this.size += count;
  }

  takePrivate(most: number): number {
    const { ring } = this;
    let taken = 0;
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

  takeFindable(): number {
    this.size--;
    const id = this.firstOverdue();
    if (id < 0) {
      const { first } = this.ring;
      this.ring.remove(first);
      return first;
    }
    this.overdue.pop();
    this.isQueued[id] = 0;
    this.isOverdue[id] = 0;
    return id;
  }

  toArray(): number[] {
    const { isOverdue, filledAt } = this;
    const isFree = (id: number) => id < 0 || this.isFree(id);
    const ids = Array.from(isOverdue.keys()).filter((id) => isOverdue[id] === 1 && isFree(id));
    ids.sort((a, b) => filledAt[a]! - filledAt[b]!);
    return [...ids, ...this.ring.toArray().filter(isFree)];
  }

  private isFree(id: number): boolean {
    return this.rows[id << ROW] === 1;
  }

  /** The overdue block that was filled first among those that are free, -1 without one. */
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
