import { HashedIndex } from '@baton/kernel';
import type { BlockTable } from './block-table';

/**
 * The table for hashes of any kind. Ids are drawn from 1..numBlocks; there is one per block, so
 * they never run out.
 */
export class HashedTable implements BlockTable {
  private readonly index: HashedIndex;
  private readonly generations: Int32Array;
  /** Returned ids, drawn last in, first out. */
  private readonly vacant: Int32Array;
  private vacantCount = 0;
  /** Ids up to this one have been drawn; the memory of the others is not touched. */
  private lastDrawn = 0;

  constructor(readonly lastId: number) {
    this.index = new HashedIndex(lastId + 1);
    this.generations = new Int32Array(lastId + 1);
    this.vacant = new Int32Array(lastId);
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
    const id = privateId > 0 ? privateId : this.nextPrivate;
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
    const id = this.nextPrivate;
    if (this.vacantCount > 0) this.vacantCount--;
    else this.lastDrawn++;
    this.generations[id]!++;
    return id;
  }

  vacatePrivate(id: number): void {
    this.vacant[this.vacantCount++] = id;
  }

  generationOf(id: number): number {
    return this.generations[id]!;
  }

  private get nextPrivate(): number {
    return this.vacantCount > 0 ? this.vacant[this.vacantCount - 1]! : this.lastDrawn + 1;
  }
}
