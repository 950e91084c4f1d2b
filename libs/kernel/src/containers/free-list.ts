/**
 * Numbers 0..n-1 in the order in which they were last put in: a doubly linked list inside two
 * arrays, so that a reused number leaves from the middle in constant time. The entry past the last
 * closes the ring.
 */
export class FreeList {
  private readonly next: Int32Array;
  private readonly prev: Int32Array;
  private readonly ring: number;
  private count: number;

  /** All blocks are free, in ascending order. */
  constructor(numBlocks: number) {
    this.next = new Int32Array(numBlocks + 1);
    this.prev = new Int32Array(numBlocks + 1);
    this.ring = numBlocks;
    this.count = numBlocks;
    for (let i = 0; i <= numBlocks; i++) {
      this.next[i] = i === numBlocks ? 0 : i + 1;
      this.prev[i] = i === 0 ? numBlocks : i - 1;
    }
  }

  get size(): number {
    return this.count;
  }

  append(block: number): void {
    const { next, prev, ring } = this;
    const last = prev[ring]!;
    next[last] = block;
    prev[block] = last;
    next[block] = ring;
    prev[ring] = block;
    this.count++;
  }

  remove(block: number): void {
    const before = this.prev[block]!;
    const after = this.next[block]!;
    this.next[before] = after;
    this.prev[after] = before;
    this.count--;
  }

  /** Removes the least recently freed block; the list must not be empty. */
  removeFirst(): number {
    const block = this.next[this.ring]!;
    this.remove(block);
    return block;
  }

  toArray(): number[] {
    const blocks: number[] = [];
    for (let block = this.next[this.ring]!; block !== this.ring; block = this.next[block]!) {
      blocks.push(block);
    }
    return blocks;
  }
}
