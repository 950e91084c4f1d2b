import { BlockRing } from './block-ring';
import type { BlockTable } from './block-table';
import type { FreeOrder } from './free-order';

/** Least recently freed first, as in vLLM. */
export class LruOrder implements FreeOrder {
  size: number;
  private readonly ring: BlockRing;

  /** All of `numBlocks` are free and private. */
  constructor(table: BlockTable, numBlocks: number) {
    this.ring = new BlockRing(table);
    this.size = numBlocks;
    this.ring.appendPrivate(numBlocks);
  }

  filled(): void {}

  freed(id: number): void {
    this.ring.append(id);
    this.size++;
  }

  used(id: number): void {
    this.ring.remove(id);
    this.size--;
  }

  freedPrivate(count: number): void {
    this.ring.appendPrivate(count);
    this.size += count;
  }

  takePrivate(most: number): number {
    const count = this.ring.takePrivate(most);
    this.size -= count;
    return count;
  }

  takeFindable(): number {
    const id = this.ring.first;
    this.used(id);
    return id;
  }

  toArray(): number[] {
    return this.ring.toArray();
  }
}
