const FIRST_CAPACITY = 16;
const NO_HASHES: ArrayLike<number> = [];

/** Stands in `ids` for a block without an id. */
const NO_ID = -1;

/**
 * The blocks of one owner, in the order of its tokens, and their content. The ids of leading blocks
 * are stored, because other owners can find and share them; the private ones after them are only
 * counted. A pool fills and empties the list; the owner describes the content, adds the blocks that
 * it has taken and otherwise only reads. The list keeps its memory when emptied, so a reused record
 * allocates nothing.
 */
export class BlockList {
  /** Group of layers that the blocks belong to. */
  group = 0;
  /** Ids of the leading `numbered` blocks, -1 where one has none. */
  ids = new Int32Array(0);
  numbered = 0;
  /**
   * Leading blocks that the owner never had or has freed, because a window has left them behind.
   */
  skipped = 0;
  /** Private blocks after those. */
  rest = 0;
  /** Leading blocks that were offered to the prefix index as full. */
  published = 0;
  /** Whether ids were given to private blocks. */
  hasPrivateIds = false;
  /**
   * Chained hashes of the leading blocks: `hashCount` of them, from `hashFrom` on. From the first 0
   * on blocks are private.
   */
  hashes: ArrayLike<number> = NO_HASHES;
  hashFrom = 0;
  hashCount = 0;

  get length(): number {
    return this.numbered + this.rest;
  }

  /** Sets the content of this owner's blocks; without `count` all hashes after `from`. */
  describe(hashes: ArrayLike<number>, from = 0, count = hashes.length - from): void {
    this.hashes = hashes;
    this.hashFrom = from;
    this.hashCount = count;
  }

  /** Drops the reference to the hashes. */
  forget(): void {
    this.describe(NO_HASHES);
  }

  /** Adds private blocks at the end. */
  add(count: number): void {
    this.rest += count;
  }

  /**
   * Adds the first `count` of these blocks of the pool to a list without blocks, after the skipped
   * ones.
   */
  append(ids: Int32Array, count: number): void {
    const { numbered } = this;
    if (numbered + count > this.ids.length) this.grow(numbered + count);
    for (let i = 0; i < count; i++) this.ids[numbered + i] = ids[i]!;
    this.numbered = numbered + count;
  }

  /** Records that the owner has no block before this one. */
  skip(upTo: number): void {
    if (upTo > this.ids.length) this.grow(upTo);
    for (let i = this.skipped; i < upTo; i++) this.ids[i] = NO_ID;
    if (upTo > this.numbered) {
      this.rest = Math.max(0, this.rest - (upTo - this.numbered));
      this.numbered = upTo;
    }
    this.skipped = upTo;
  }

  /** Gives the private block at this place an id. */
  number(at: number, id: number): void {
    if (at >= this.ids.length) this.grow(at + 1);
    while (this.numbered <= at) {
      this.ids[this.numbered++] = NO_ID;
      this.rest--;
    }
    this.ids[at] = id;
  }

  clear(): void {
    this.numbered = 0;
    this.skipped = 0;
    this.rest = 0;
    this.published = 0;
    this.hasPrivateIds = false;
  }

  private grow(atLeast: number): void {
    const ids = new Int32Array(Math.max(FIRST_CAPACITY, atLeast, this.ids.length * 2));
    ids.set(this.ids);
    this.ids = ids;
  }
}

/** End of the run of consecutive ids that begins at `from`, within the first `length`. */
export function runEnd(ids: Int32Array, from: number, length: number): number {
  let end = from + 1;
  while (end < length && ids[end] === ids[end - 1]! + 1) end++;
  return end;
}
