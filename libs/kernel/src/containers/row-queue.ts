/** Rows that wait, first in first out: a ring in one array that doubles when it is full. */
export class RowQueue {
  private rows = new Int32Array(64);
  private head = 0;
  length = 0;

  push(row: number): void {
    if (this.length === this.rows.length) this.grow();
    this.rows[(this.head + this.length++) & (this.rows.length - 1)] = row;
  }

  /** The row that has waited longest; the queue must not be empty. */
  peek(): number {
    return this.rows[this.head]!;
  }

  shift(): number {
    const row = this.rows[this.head]!;
    this.head = (this.head + 1) & (this.rows.length - 1);
    this.length--;
    return row;
  }

  private grow(): void {
    const { rows, head } = this;
    const grown = new Int32Array(rows.length * 2);
    grown.set(rows.subarray(head));
    grown.set(rows.subarray(0, head), rows.length - head);
    this.rows = grown;
    this.head = 0;
  }
}
