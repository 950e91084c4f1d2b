const FIRST_ROWS = 16;
export const MOST_ROWS = 128;

/**
 * When tokens came, as rows of an instant and how many had come by then. The memory is bounded
 * whatever the length of the answer: when the rows are used up, two become one, and a row stands
 * for twice as many steps from then on.
 */
export class StepMarks {
  /** Steps that have brought tokens. */
  count = 0;
  /** Steps that a row stands for; the last row may stand for fewer. */
  perRow = 1;
  firstUs: number | undefined;
  private rows = new Float64Array(2 * FIRST_ROWS);
  private used = 0;
  private inLast = 0;

  /** @param tokens that have come with this step and before */
  add(atUs: number, tokens: number): void {
    this.firstUs ??= atUs;
    this.count += 1;
    if (this.used === 0 || this.inLast === this.perRow) this.newRow();
    this.inLast += 1;
    this.rows[2 * this.used - 2] = atUs;
    this.rows[2 * this.used - 1] = tokens;
  }

  get lastUs(): number | undefined {
    return this.used === 0 ? undefined : this.rows[2 * this.used - 2];
  }

  /** `[instant, tokens by then]`. */
  list(): [number, number][] {
    return Array.from({ length: this.used }, (_none, row) => [
      this.rows[2 * row] ?? 0,
      this.rows[2 * row + 1] ?? 0,
    ]);
  }

  private newRow(): void {
    if (this.used === MOST_ROWS) this.halve();
    else if (2 * this.used === this.rows.length) this.grow();
    this.used += 1;
    this.inLast = 0;
  }

  private grow(): void {
    const larger = new Float64Array(Math.min(2 * this.rows.length, 2 * MOST_ROWS));
    larger.set(this.rows);
    this.rows = larger;
  }

  private halve(): void {
    this.used = MOST_ROWS / 2;
    this.perRow *= 2;
    for (let row = 0; row < this.used; row += 1) {
      this.rows[2 * row] = this.rows[4 * row + 2] ?? 0;
      this.rows[2 * row + 1] = this.rows[4 * row + 3] ?? 0;
    }
  }
}
