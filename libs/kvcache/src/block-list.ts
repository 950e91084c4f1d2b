const FIRST_CAPACITY = 16;
const NO_HASHES: ArrayLike<number> = [];

/**
 * The blocks of one owner, in the order of its tokens, and what they are to hold. A pool fills and empties it; the owner says what the
 * content is and otherwise only reads. It keeps its room when emptied, so an owner's record that is used again allocates nothing.
 */
export class BlockList {
  /** Only the first `length` entries count. */
  ids = new Int32Array(0);
  length = 0;
  /** Leading blocks that were offered to the prefix index as full. */
  published = 0;
  /** Chained hashes of the leading blocks: `hashCount` of these, from `hashFrom` on. 0 and what lies behind is private. */
  hashes: ArrayLike<number> = NO_HASHES;
  hashFrom = 0;
  hashCount = 0;

  /** Says what the blocks of this owner hold; without `count` everything behind `from`. */
  describe(hashes: ArrayLike<number>, from = 0, count = hashes.length - from): void {
    this.hashes = hashes;
    this.hashFrom = from;
    this.hashCount = count;
  }

  /** Lets go of the hashes. */
  forget(): void {
    this.describe(NO_HASHES);
  }

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
