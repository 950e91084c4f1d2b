import { BlockRing } from './block-ring';
import type { FreeOrder } from './free-order';

/** Least recently freed first, as in vLLM. */
export class LruOrder implements FreeOrder {
  readonly longestSpan = Infinity;
  size: number;
  private readonly ring: BlockRing;

  /** All of `numBlocks` are free and private. */
  constructor(rows: Int32Array, numBlocks: number) {
    this.ring = new BlockRing(rows);
    this.size = numBlocks;
    this.ring.appendPrivate(numBlocks);
  }

  get first(): number {
    return this.ring.first;
  }

  filled(): void {}

  freed(first: number, count: number): void {
    this.ring.append(first);
    this.size += count;
  }

  used(first: number, count: number): void {
    this.ring.remove(first);
    this.size -= count;
  }

  split(first: number, upper: number): void {
    this.ring.insertBefore(first, upper);
  }

  evicted(first: number, count: number, isGone: boolean): void {
    if (isGone) this.ring.remove(first);
    this.size -= count;
  }

  freedPrivate(count: number): void {
    this.ring.appendPrivate(count);
    this.size += count;
  }

  freedPartial(count: number): void {
    this.ring.prependPrivate(count);
    this.size += count;
  }

  takePrivate(most: number): number {
    const count = this.ring.takePrivate(most);
    this.size -= count;
    return count;
  }

  toArray(): number[] {
    return this.ring.toArray();
  }
}
