const FIRST_CHUNK = 1 << 10;
const LARGEST_CHUNK = 1 << 18;

/** The typed arrays that columns consist of. */
export type Numbers = Float64Array | Int32Array | Uint16Array;

/** A typed array that grows by chunks. Its values are copied only once, by `take`. */
export class Column<T extends Numbers> {
  private readonly full: T[] = [];
  private fullLength = 0;
  private chunk: T;
  private used = 0;

  constructor(private readonly type: new (size: number) => T) {
    this.chunk = new type(0);
  }

  get length(): number {
    return this.fullLength + this.used;
  }

  push(value: number): void {
    if (this.used === this.chunk.length) this.grow();
    this.chunk[this.used++] = value;
  }

  /** Appends `value` until the column has this length. */
  padTo(length: number, value: number): void {
    while (this.length < length) this.push(value);
  }

  /** Returns all values in one array and leaves the column empty. */
  take(): T {
    const values = new this.type(this.length);
    let at = 0;
    for (const chunk of this.full.splice(0)) {
      values.set(chunk, at);
      at += chunk.length;
    }
    values.set(this.chunk.subarray(0, this.used), at);
    this.chunk = new this.type(0);
    this.fullLength = 0;
    this.used = 0;
    return values;
  }

  private grow(): void {
    if (this.used > 0) this.full.push(this.chunk);
    this.fullLength += this.used;
    this.chunk = new this.type(Math.min(LARGEST_CHUNK, Math.max(FIRST_CHUNK, this.used * 2)));
    this.used = 0;
  }
}
