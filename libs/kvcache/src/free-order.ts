import { type BlockTable, FIELDS } from './block-table';

// Bound here: an imported name is read through a getter each time.
const { ROW, NEXT, PREV, GAP } = FIELDS;

/**
 * The order in which blocks that nobody uses are given up. Findable ones are known by id; private ones are alike and only counted, by where
 * they stand between the others.
 */
export interface FreeOrder {
  /** Blocks that nobody uses. */
  readonly size: number;
  /** A block in use has become findable. */
  filled(id: number): void;
  /** The last owner of a findable block has gone. */
  freed(id: number): void;
  /** Somebody uses a free findable block again. */
  used(id: number): void;
  freedPrivate(count: number): void;
  /** Takes private blocks, at most `most`, as far as they come first. */
  takePrivate(most: number): number;
  /** Takes the block that comes first, which is a findable one after `takePrivate` gave less than it was asked for. */
  takeFindable(): number;
  /** Ids in order, -1 for each private block. O(free blocks). */
  toArray(): number[];
}

/**
 * Least recently freed first, as in vLLM. A doubly linked list through the block table, so that a block which is shared again leaves from the
 * middle at once; the row past the last closes the ring. Each row counts the private blocks before it.
 */
export class LruOrder implements FreeOrder {
  size: number;
  private readonly rows: Int32Array;
  private readonly ring: number;

  /** All blocks are free and private. */
  constructor({ rows, numBlocks }: BlockTable) {
    this.rows = rows;
    this.size = numBlocks;
    this.ring = numBlocks << ROW;
    rows[this.ring + NEXT] = this.ring;
    rows[this.ring + PREV] = this.ring;
    rows[this.ring + GAP] = numBlocks;
  }

  filled(): void {}

  freed(id: number): void {
    const { rows, ring } = this;
    const row = id << ROW;
    const last = rows[ring + PREV]!;
    rows[last + NEXT] = row;
    rows[row + PREV] = last;
    rows[row + NEXT] = ring;
    rows[ring + PREV] = row;
    rows[row + GAP] = rows[ring + GAP]!;
    rows[ring + GAP] = 0;
    this.size++;
  }

  used(id: number): void {
    const { rows } = this;
    const row = id << ROW;
    const before = rows[row + PREV]!;
    const after = rows[row + NEXT]!;
    rows[before + NEXT] = after;
    rows[after + PREV] = before;
    rows[after + GAP]! += rows[row + GAP]!;
    this.size--;
  }

  freedPrivate(count: number): void {
    this.rows[this.ring + GAP]! += count;
    this.size += count;
  }

  takePrivate(most: number): number {
    const { rows } = this;
    const gap = rows[this.ring + NEXT]! + GAP;
    const count = Math.min(most, rows[gap]!);
    rows[gap]! -= count;
    this.size -= count;
    return count;
  }

  takeFindable(): number {
    const id = this.rows[this.ring + NEXT]! >> ROW;
    this.used(id);
    return id;
  }

  toArray(): number[] {
    const { rows, ring } = this;
    const order: number[] = [];
    let row = ring;
    do {
      row = rows[row + NEXT]!;
      for (let i = rows[row + GAP]!; i > 0; i--) order.push(-1);
      if (row !== ring) order.push(row >> ROW);
    } while (row !== ring);
    return order;
  }
}
