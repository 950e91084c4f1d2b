const FIRST_CAPACITY = 16;

/**
 * The blocks of one owner, in the order of its tokens. A pool fills and empties it; the owner only reads. It keeps its room when emptied,
 * so an owner's record that is used again allocates nothing.
 */
export class BlockList {
  /** Only the first `length` entries count. */
  ids = new Int32Array(0);
  length = 0;

  push(block: number): void {
    if (this.length === this.ids.length) this.grow();
    this.ids[this.length++] = block;
  }

  toArray(): number[] {
    return Array.from(this.ids.subarray(0, this.length));
  }

  private grow(): void {
    const ids = new Int32Array(Math.max(FIRST_CAPACITY, this.ids.length * 2));
    ids.set(this.ids);
    this.ids = ids;
  }
}
