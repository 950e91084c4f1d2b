import type { BlockTable } from './block-table';

/**
 * One table for each group of layers, since the same content has a block in each. The ids of a
 * group follow those of the group before.
 */
export class GroupedTable implements BlockTable {
  readonly lastId: number;
  private readonly stride: number;

  constructor(private readonly tables: readonly BlockTable[]) {
    this.stride = tables[0]!.lastId;
    this.lastId = this.stride * tables.length;
  }

  get size(): number {
    return this.tables.reduce((sum, { size }) => sum + size, 0);
  }

  find(hash: number, group: number): number {
    const id = this.tables[group]!.find(hash, 0);
    return id < 0 ? id : id + group * this.stride;
  }

  isAt(hash: number, id: number): boolean {
    return this.tableOf(id).isAt(hash, this.ownId(id));
  }

  hashOf(id: number): number {
    return this.tableOf(id).hashOf(this.ownId(id));
  }

  enter(hash: number, privateId: number, group: number): number {
    const own = privateId < 0 ? privateId : this.ownId(privateId);
    const id = this.tables[group]!.enter(hash, own, 0);
    return id < 0 ? id : id + group * this.stride;
  }

  remove(first: number, count: number): void {
    this.tableOf(first).remove(this.ownId(first), count);
  }

  /** Ids are requested only in the first group. */
  drawPrivate(): number {
    return this.tables[0]!.drawPrivate();
  }

  vacatePrivate(id: number): void {
    this.tableOf(id).vacatePrivate(this.ownId(id));
  }

  generationOf(id: number): number {
    return this.tableOf(id).generationOf(this.ownId(id));
  }

  private tableOf(id: number): BlockTable {
    return this.tables[Math.floor((id - 1) / this.stride)]!;
  }

  private ownId(id: number): number {
    return ((id - 1) % this.stride) + 1;
  }
}
