import type { BlockPoolOptions } from './block-pool';

export interface NaiveBlock {
  owners: number;
  hash: number;
}

/** The rules of the block pool said once more, over single blocks and plain lists: what specs compare the pool with. */
export class NaivePool {
  private readonly free: NaiveBlock[];
  private readonly findable = new Map<number, NaiveBlock>();

  constructor(private readonly options: BlockPoolOptions) {
    this.free = Array.from({ length: options.numBlocks }, () => ({ owners: 0, hash: 0 }));
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
    for (const block of this.free.splice(0, count)) {
      this.findable.delete(block.hash);
      into.push(Object.assign(block, { owners: 1, hash: 0 }));
    }
    return true;
  }

  publish(blocks: readonly NaiveBlock[], hashes: readonly number[]): void {
    if (!this.options.enablePrefixCaching) return;
    blocks.forEach((block, i) => {
      const hash = hashes[i] ?? 0;
      if (hash === 0 || block.hash !== 0 || this.findable.has(hash)) return;
      block.hash = hash;
      this.findable.set(hash, block);
    });
  }

  release(blocks: readonly NaiveBlock[]): void {
    for (const block of [...blocks].reverse()) {
      if (--block.owners === 0) this.free.push(block);
    }
  }

  freeOrder(): number[] {
    return this.free.map(({ hash }) => hash);
  }

  contents(): number[] {
    return [...this.findable.keys()].sort((a, b) => a - b);
  }
}
