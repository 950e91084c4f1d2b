/**
 * An LRU set of content hashes: with no room left it drops the least recently used first. It holds
 * at most 2^24 hashes.
 */
export class RecentContents {
  /** In order of use. */
  private contents = new Set<number>();
  /**
   * The next one is the least recently used. A new iterator would look for it among the places of
   * all that were used again or dropped.
   */
  private leastRecent = this.contents.values();

  /** @param capacity >= 0 */
  constructor(private readonly capacity: number) {}

  /** Number of contents. */
  get size(): number {
    return this.contents.size;
  }

  has(hash: number): boolean {
    return this.contents.has(hash);
  }

  /** Adds a content, or marks it as used again. Returns the content that it drops, 0 for none. */
  use(hash: number): number {
    const { contents } = this;
    if (this.capacity === 0) return 0;
    let dropped = 0;
    if (!contents.delete(hash) && contents.size === this.capacity) {
      dropped = this.leastRecent.next().value!;
      contents.delete(dropped);
    }
    contents.add(hash);
    return dropped;
  }

  /** Removes everything. */
  clear(): void {
    this.contents = new Set();
    this.leastRecent = this.contents.values();
  }

  /** All contents, least recently used first, for tests and audits. */
  toArray(): number[] {
    return [...this.contents];
  }
}
