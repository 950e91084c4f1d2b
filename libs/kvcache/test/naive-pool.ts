import type { BlockPoolOptions } from '../src/block-pool';

export interface NaiveBlock {
  owners: number;
  hash: number;
  isFull: boolean;
  /** Blocks are evicted in the order of their places. */
  place: number;
}

/**
 * A second implementation of the block pool's rules, over single blocks and plain lists, for specs
 * to compare the pool with.
 */
export class NaivePool {
  private readonly free: NaiveBlock[];
  private readonly findable = new Map<number, NaiveBlock>();
  private places: number;
  private firstPlace = 0;

  constructor(private readonly options: BlockPoolOptions) {
    this.places = options.numBlocks;
    this.free = Array.from({ length: options.numBlocks }, (_, place) => ({
      owners: 0,
      hash: 0,
      isFull: false,
      place,
    }));
  }

  match(hashes: readonly number[], maxBlocks: number): NaiveBlock[] {
    const found = hashes.slice(0, maxBlocks).map((hash) => this.findable.get(hash));
    const end = found.indexOf(undefined);
    return (end < 0 ? found : found.slice(0, end)) as NaiveBlock[];
  }

  share(blocks: readonly NaiveBlock[]): void {
    for (const block of blocks) {
      if (block.owners++ === 0) this.free.splice(this.free.indexOf(block), 1);
    }
  }

  take(count: number, into: NaiveBlock[]): boolean {
    if (count > this.free.length) return false;
    this.free.sort((a, b) => a.place - b.place);
    for (const block of this.free.splice(0, count)) {
      this.findable.delete(block.hash);
      into.push(Object.assign(block, { owners: 1, hash: 0, isFull: false }));
    }
    return true;
  }

  publish(blocks: readonly NaiveBlock[], hashes: readonly number[]): void {
    if (!this.options.enablePrefixCaching) return;
    const filled = blocks.filter((block, i) => {
      // A block is entered only once; a twin stays without a hash.
      if (block.isFull) return false;
      block.isFull = true;
      const hash = hashes[i] ?? 0;
      if (hash === 0 || block.hash !== 0 || this.findable.has(hash)) return false;
      block.hash = hash;
      this.findable.set(hash, block);
      return true;
    });
    for (const block of filled.reverse()) block.place = this.places++;
  }

  release(blocks: readonly NaiveBlock[]): void {
    for (const block of [...blocks].reverse()) {
      if (--block.owners > 0) continue;
      this.free.push(block);
      const keepsPlace = this.options.evictionPolicy === 'fifo' && block.hash !== 0;
      if (!block.isFull) block.place = --this.firstPlace;
      else if (!keepsPlace) block.place = this.places++;
    }
  }

  freeOrder(): number[] {
    this.free.sort((a, b) => a.place - b.place);
    return this.free.map(({ hash }) => hash);
  }

  contents(): number[] {
    return [...this.findable.keys()].sort((a, b) => a - b);
  }
}
