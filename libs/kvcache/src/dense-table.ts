import { assert } from '@baton/kernel';
import { type BlockTable, FIELDS } from './block-table';

// Bound here: an imported name is read through a getter each time.
const { ROW } = FIELDS;

/** More contents than this are hashed instead: 2^20 rows are 16 MiB per engine, of which what is never written takes no memory. */
export const DENSE_CONTENTS_MAX = 2 ** 20;

/**
 * The table for hashes that are the integers 1..contentCount: a findable block's id is its content, so there is nothing to look up, and what is known of
 * the blocks of a prompt lies side by side. Ids of private blocks come behind, and a block that becomes findable gets a new one.
 */
export class DenseTable implements BlockTable {
  readonly rows: Int32Array;
  readonly lastId: number;
  size = 0;
  private readonly generations = new Map<number, number>();
  private readonly vacant: number[] = [];
  private drawn = 0;

  constructor(
    numBlocks: number,
    private readonly contentCount: number,
  ) {
    this.rows = new Int32Array((contentCount + 1) << ROW);
    this.lastId = contentCount + numBlocks;
  }

  find(content: number): number {
    return this.rows[content << ROW]! > 0 ? content : -1;
  }

  hashOf(id: number): number {
    return id <= this.contentCount && this.rows[id << ROW] !== 0 ? id : 0;
  }

  enter(content: number, privateId: number): number {
    assert(content <= this.contentCount, 'a content is beyond the number announced');
    if (this.rows[content << ROW] !== 0) return -1;
    if (privateId > 0) this.vacatePrivate(privateId);
    this.rows[content << ROW] = 2;
    this.size++;
    return content;
  }

  remove(id: number): void {
    this.rows[id << ROW] = 0;
    this.size--;
  }

  drawPrivate(): number {
    const id = this.vacant.pop() ?? this.contentCount + ++this.drawn;
    this.generations.set(id, this.generationOf(id) + 1);
    return id;
  }

  vacatePrivate(id: number): void {
    this.vacant.push(id);
  }

  /** The id of a findable block is its content, which never is another. */
  generationOf(id: number): number {
    return id <= this.contentCount ? 1 : (this.generations.get(id) ?? 0);
  }
}
