import { SPAN } from './span-rows';

const { ROW, NEXT, PREV, GAP } = SPAN;

/**
 * Spans in a row, with private blocks between them: a doubly linked list, so that removing a span
 * from the middle is O(1). Each counts the private blocks before it; row 0 closes the ring and
 * counts those at the end.
 */
export class BlockRing {
  /** @param rows  as `SPAN` says; only the links are touched */
  constructor(private readonly rows: Int32Array) {}

  /** The first span, -1 without one. */
  get first(): number {
    const row = this.rows[NEXT]!;
    return row === 0 ? -1 : row >> ROW;
  }

  append(first: number): void {
    const { rows } = this;
    const row = first << ROW;
    const last = rows[PREV]!;
    rows[last + NEXT] = row;
    rows[row + PREV] = last;
    rows[row + NEXT] = 0;
    rows[PREV] = row;
    rows[row + GAP] = rows[GAP]!;
    rows[GAP] = 0;
  }

  /** Puts a span directly before another, after the private blocks there. */
  insertBefore(other: number, first: number): void {
    const { rows } = this;
    const row = first << ROW;
    const after = other << ROW;
    const before = rows[after + PREV]!;
    rows[before + NEXT] = row;
    rows[row + PREV] = before;
    rows[row + NEXT] = after;
    rows[after + PREV] = row;
    rows[row + GAP] = rows[after + GAP]!;
    rows[after + GAP] = 0;
  }

  /** Takes the span out; private blocks before it stay. */
  remove(first: number): void {
    const { rows } = this;
    const row = first << ROW;
    const before = rows[row + PREV]!;
    const after = rows[row + NEXT]!;
    rows[before + NEXT] = after;
    rows[after + PREV] = before;
    rows[after + GAP]! += rows[row + GAP]!;
  }

  prependPrivate(count: number): void {
    const { rows } = this;
    rows[rows[NEXT]! + GAP]! += count;
  }

  appendPrivate(count: number): void {
    this.rows[GAP]! += count;
  }

  /** Takes at most `most` of the private blocks before the first span. */
  takePrivate(most: number): number {
    const { rows } = this;
    const gap = rows[NEXT]! + GAP;
    const count = Math.min(most, rows[gap]!);
    rows[gap]! -= count;
    return count;
  }

  /** The spans in order, -1 for each private block. */
  toArray(): number[] {
    const { rows } = this;
    const firsts: number[] = [];
    let row = 0;
    do {
      row = rows[row + NEXT]!;
      for (let i = rows[row + GAP]!; i > 0; i--) firsts.push(-1);
      if (row !== 0) firsts.push(row >> ROW);
    } while (row !== 0);
    return firsts;
  }
}
