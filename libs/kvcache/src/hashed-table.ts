import { HashedIndex } from '@baton/kernel';
import type { BlockTable } from './block-table';

/**
 * The table for hashes of any kind. Ids are drawn from 1..numBlocks; as each stands for a block,
 * none is ever lacking.
 */
export class HashedTable implements BlockTable {
  private readonly index: HashedIndex;
  private readonly generations: Int32Array;
  private readonly vacant: Int32Array;
  private vacantCount: number;

  constructor(readonly lastId: number) {
    this.index = new HashedIndex(lastId + 1);
    this.generations = new Int32Array(lastId + 1);
    this.vacant = Int32Array.from({ length: lastId }, (_, i) => lastId - i);
    this.vacantCount = lastId;
  }

  get size(): number {
    return this.index.size;
  }

  find(hash: number): number {
    return this.index.find(hash);
  }

  hashOf(id: number): number {
    return this.index.hashOf(id);
  }

  enter(hash: number, privateId: number): number {
    const id = privateId > 0 ? privateId : this.vacant[this.vacantCount - 1]!;
    if (!this.index.add(hash, id)) return -1;
    if (privateId < 0) this.drawPrivate();
    return id;
  }

  isAt(hash: number, id: number): boolean {
    return this.index.hashOf(id) === hash;
  }

  remove(first: number, count: number): void {
    for (let id = first; id < first + count; id++) {
      this.index.remove(id);
      this.vacatePrivate(id);
    }
  }

  drawPrivate(): number {
    const id = this.vacant[--this.vacantCount]!;
    this.generations[id]!++;
    return id;
  }

  vacatePrivate(id: number): void {
    this.vacant[this.vacantCount++] = id;
  }

  generationOf(id: number): number {
    return this.generations[id]!;
  }
}
