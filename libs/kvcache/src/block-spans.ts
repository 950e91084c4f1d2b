import { InvariantError } from '@baton/kernel';
import { FifoOrder } from './fifo-order';
import type { FreeOrder } from './free-order';
import { LruOrder } from './lru-order';
import { SPAN } from './span-rows';

const { ROW, OWNERS } = SPAN;

/**
 * Findable blocks in spans: consecutive ids of blocks that follow one another in every prompt that
 * has them, used by the same owners. So a prompt is shared and released by a few spans, however
 * long it is. A span is cut where a sequence shares only its beginning, and spans that one owner
 * frees become one again. This class records the owners; `FreeOrder` records which unused span is
 * evicted first.
 */
export class BlockSpans {
  readonly order: FreeOrder;
  private readonly rows: Int32Array;
  /** Beginnings of the spans that `disown` visits. */
  private pieces = new Int32Array(64);

  constructor(lastId: number, numBlocks: number, policy: 'lru' | 'fifo') {
    this.rows = new Int32Array((lastId + 1) << ROW);
    const Order = policy === 'fifo' ? FifoOrder : LruOrder;
    this.order = new Order(this.rows, numBlocks);
  }

  /** Length of the span that begins with this block, 0 when none does. */
  lengthAt(id: number): number {
    return Math.abs(this.rows[id << ROW]!);
  }

  /** Whether the span that begins with this block is unused. */
  isFreeAt(first: number): boolean {
    return this.rows[first << ROW]! > 0;
  }

  ownersAt(first: number): number {
    return this.isFreeAt(first) ? 0 : this.rows[(first << ROW) + OWNERS]!;
  }

  /** Adds blocks with one owner that have become findable and are consecutive in its prompt. */
  create(first: number, count: number): void {
    const { rows, order } = this;
    const length = Math.min(count, order.longestSpan);
    for (let at = first + count - length; at >= first; at -= length) {
      rows[at << ROW] = -length;
      rows[(at << ROW) + OWNERS] = 1;
      order.filled(at);
    }
  }

  /** Adds an owner to blocks that are consecutive in its prompt; the first begins a span. */
  own(first: number, count: number): void {
    const { rows } = this;
    let rest = count;
    for (let at = first; rest > 0;) {
      const row = at << ROW;
      if (Math.abs(rows[row]!) > rest) this.split(at, at + rest);
      const length = rows[row]!;
      if (length > 0) {
        this.order.used(at, length);
        rows[row] = -length;
        rows[row + OWNERS] = 1;
        at += length;
        rest -= length;
      } else {
        rows[row + OWNERS]!++;
        at -= length;
        rest += length;
      }
    }
  }

  /** Removes an owner from such blocks; the last is freed first. */
  disown(first: number, count: number): void {
    let pieces = this.piecesOf(first, count);
    const { rows } = this;
    let freeAt = -1;
    let freeLength = 0;
    while (pieces > 0) {
      const at = this.pieces[--pieces]!;
      const row = at << ROW;
      if (--rows[row + OWNERS]! > 0) {
        if (freeLength > 0) this.free(freeAt, freeLength);
        freeLength = 0;
        continue;
      }
      if (freeLength > 0 && this.order.longestSpan === 1) {
        this.free(freeAt, freeLength);
        freeLength = 0;
      }
      if (freeLength > 0) rows[freeAt << ROW] = 0;
      freeAt = at;
      freeLength -= rows[row]!;
    }
    if (freeLength > 0) this.free(freeAt, freeLength);
  }

  /** Evicts the last `count` blocks of the first span in the order. */
  evict(count: number): void {
    const { order, rows } = this;
    const { first } = order;
    const row = first << ROW;
    rows[row]! -= count;
    order.evicted(first, count, rows[row] === 0);
  }

  /** Ids of the free findable blocks in order, -1 for each private block. O(blocks). */
  freeIds(): number[] {
    const ids: number[] = [];
    for (const first of this.order.toArray()) {
      if (first < 0) ids.push(-1);
      else for (let id = first + this.lengthAt(first) - 1; id >= first; id--) ids.push(id);
    }
    return ids;
  }

  /**
   * Owners of each block by id, -1 for private ones.
   *
   * @throws InvariantError when spans overlap.
   */
  owners(): Int32Array {
    const owners = new Int32Array(this.rows.length >> ROW).fill(-1);
    for (let first = 1; first < owners.length; first++) {
      for (let id = first + this.lengthAt(first) - 1; id >= first; id--) {
        if (owners[id] !== -1) throw new InvariantError(`block ${id} is in two spans`);
        owners[id] = this.ownersAt(first);
      }
    }
    return owners;
  }

  /** The number of spans from `first` on; writes their beginnings to `pieces`. */
  private piecesOf(first: number, count: number): number {
    let found = 0;
    for (let at = first; at < first + count; at += this.lengthAt(at)) {
      if (found === this.pieces.length) this.growPieces();
      this.pieces[found++] = at;
    }
    return found;
  }

  private free(first: number, length: number): void {
    this.rows[first << ROW] = length;
    this.order.freed(first, length);
  }

  private split(first: number, upper: number): void {
    const { rows } = this;
    const row = first << ROW;
    const upperRow = upper << ROW;
    const length = rows[row]!;
    if (length > 0) {
      rows[upperRow] = length - (upper - first);
      rows[row] = upper - first;
      this.order.split(first, upper);
    } else {
      rows[upperRow] = length + (upper - first);
      rows[upperRow + OWNERS] = rows[row + OWNERS]!;
      rows[row] = first - upper;
    }
  }

  private growPieces(): void {
    const pieces = new Int32Array(this.pieces.length * 2);
    pieces.set(this.pieces);
    this.pieces = pieces;
  }
}
