import { FreeList } from './free-list';
import { HashedIndex } from './hashed-index';

const SMALLEST = 1_024;

/**
 * An LRU set of content hashes: with no room left it drops the least recently used first. Memory
 * grows with use, up to about 32 bytes per hash.
 */
export class RecentContents {
  private index: HashedIndex;
  /** All places, empty ones first, then by use. */
  private order: FreeList;
  private places: number;

  /** @param capacity >= 0 */
  constructor(private readonly capacity: number) {
    this.places = Math.min(capacity, SMALLEST);
    this.index = new HashedIndex(this.places);
    this.order = new FreeList(this.places);
  }

  /** Number of contents. */
  get size(): number {
    return this.index.size;
  }

  has(hash: number): boolean {
    return this.index.find(hash) >= 0;
  }

  /** Adds a content, or marks it as used again. Returns the content that it drops, 0 for none. */
  use(hash: number): number {
    const known = this.index.find(hash);
    if (known >= 0) {
      this.order.remove(known);
      this.order.append(known);
      return 0;
    }
    if (this.capacity === 0) return 0;
    if (this.index.size === this.places && this.places < this.capacity) this.grow();
    const place = this.order.removeFirst();
    const dropped = this.index.hashOf(place);
    if (dropped !== 0) this.index.remove(place);
    this.index.add(hash, place);
    this.order.append(place);
    return dropped;
  }

  /** Removes everything. */
  clear(): void {
    this.places = Math.min(this.capacity, SMALLEST);
    this.index = new HashedIndex(this.places);
    this.order = new FreeList(this.places);
  }

  /** All contents, least recently used first, for tests and audits. O(capacity). */
  toArray(): number[] {
    const hashes = this.order.toArray().map((place) => this.index.hashOf(place));
    return hashes.filter((hash) => hash !== 0);
  }

  private grow(): void {
    const { index, order } = this;
    this.places = Math.min(this.places * 2, this.capacity);
    this.index = new HashedIndex(this.places);
    this.order = new FreeList(this.places);
    for (const [place, old] of order.toArray().entries()) {
      this.index.add(index.hashOf(old), place);
      this.order.remove(place);
      this.order.append(place);
    }
  }
}
