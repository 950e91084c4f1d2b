import { type BlockTable, FIELDS } from './block-table';

// Bound here: an imported name is read through a getter each time.
const { ROW, NEXT, PREV, GAP } = FIELDS;

/**
 * A sequence of blocks with private ones between them: a doubly linked list through the rows of the block table, so that a block leaves from the
 * middle at once. Each row counts the private blocks before it; the row past the last closes the ring and counts those at the end.
 */
export class BlockRing {
  private readonly rows: Int32Array;
  private readonly end: number;

  constructor({ rows, numBlocks }: BlockTable) {
    this.rows = rows;
    this.end = numBlocks << ROW;
    rows[this.end + NEXT] = this.end;
    rows[this.end + PREV] = this.end;
    rows[this.end + GAP] = 0;
  }

  /** The first block that is not private, -1 without one. */
  get first(): number {
    const row = this.rows[this.end + NEXT]!;
    return row === this.end ? -1 : row >> ROW;
  }

  append(id: number): void {
    const { rows, end } = this;
    const row = id << ROW;
    const last = rows[end + PREV]!;
    rows[last + NEXT] = row;
    rows[row + PREV] = last;
    rows[row + NEXT] = end;
    rows[end + PREV] = row;
    rows[row + GAP] = rows[end + GAP]!;
    rows[end + GAP] = 0;
  }

  /** Takes the block out; private ones before it stay. */
  remove(id: number): void {
    const { rows } = this;
    const row = id << ROW;
    const before = rows[row + PREV]!;
    const after = rows[row + NEXT]!;
    rows[before + NEXT] = after;
    rows[after + PREV] = before;
    rows[after + GAP]! += rows[row + GAP]!;
  }

  appendPrivate(count: number): void {
    this.rows[this.end + GAP]! += count;
  }

  /** Takes at most `most` of the private blocks that stand before the first other. */
  takePrivate(most: number): number {
    const { rows } = this;
    const gap = rows[this.end + NEXT]! + GAP;
    const count = Math.min(most, rows[gap]!);
    rows[gap]! -= count;
    return count;
  }

  /** Ids in order, -1 for each private block. */
  toArray(): number[] {
    const { rows, end } = this;
    const ids: number[] = [];
    let row = end;
    do {
      row = rows[row + NEXT]!;
      for (let i = rows[row + GAP]!; i > 0; i--) ids.push(-1);
      if (row !== end) ids.push(row >> ROW);
    } while (row !== end);
    return ids;
  }
}
