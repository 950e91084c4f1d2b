import { type BlockTable, FIELDS } from './block-table';

// Bound here: an imported name is read through a getter each time.
const { ROW, NEXT, PREV, GAP } = FIELDS;

/**
 * A sequence of blocks with private ones between them: a doubly linked list through the rows of the block table, so that a block leaves from the
 * middle at once. Each row counts the private blocks before it; row 0 closes the ring and counts those at the end.
 */
export class BlockRing {
  private readonly rows: Int32Array;

  constructor({ rows }: BlockTable) {
    this.rows = rows;
  }

  /** The first block that is not private, -1 without one. */
  get first(): number {
    const row = this.rows[NEXT]!;
    return row === 0 ? -1 : row >> ROW;
  }

  append(id: number): void {
    const { rows } = this;
    const row = id << ROW;
    const last = rows[PREV]!;
    rows[last + NEXT] = row;
    rows[row + PREV] = last;
    rows[row + NEXT] = 0;
    rows[PREV] = row;
    rows[row + GAP] = rows[GAP]!;
    rows[GAP] = 0;
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
    this.rows[GAP]! += count;
  }

  /** Takes at most `most` of the private blocks that stand before the first other. */
  takePrivate(most: number): number {
    const { rows } = this;
    const gap = rows[NEXT]! + GAP;
    const count = Math.min(most, rows[gap]!);
    rows[gap]! -= count;
    return count;
  }

  /** Ids in order, -1 for each private block. */
  toArray(): number[] {
    const { rows } = this;
    const ids: number[] = [];
    let row = 0;
    do {
      row = rows[row + NEXT]!;
      for (let i = rows[row + GAP]!; i > 0; i--) ids.push(-1);
      if (row !== 0) ids.push(row >> ROW);
    } while (row !== 0);
    return ids;
  }
}
