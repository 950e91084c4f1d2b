import { assert } from '@baton/kernel';
import type { BlockTable } from './block-table';

/** More contents than this are hashed instead: 2^20 take up to 17 MiB per engine, of which what is never touched takes no memory. */
export const DENSE_CONTENTS_MAX = 2 ** 20;

/**
 * The table for hashes that are the integers 1..contentCount: a findable block's id is its content, so there is nothing to look up, and prompts are
 * runs of ids. Ids of private blocks come behind, and a block that becomes findable gets a new one.
 */
export class DenseTable implements BlockTable {
  readonly lastId: number;
  size = 0;
  /** 1 for each content that can be found. */
  private readonly present: Uint8Array;
  private readonly generations = new Map<number, number>();
  private readonly vacant: number[] = [];
  private drawn = 0;

  constructor(
    numBlocks: number,
    private readonly contentCount: number,
  ) {
    this.present = new Uint8Array(contentCount + 1);
    this.lastId = contentCount + numBlocks;
  }

  find(content: number): number {
    return this.present[content] === 1 ? content : -1;
  }

  hashOf(id: number): number {
    return this.present[id] === 1 ? id : 0;
  }

  enter(content: number, privateId: number): number {
    assert(content <= this.contentCount, 'a content is beyond the number announced');
    if (this.present[content] === 1) return -1;
    if (privateId > 0) this.vacatePrivate(privateId);
    this.present[content] = 1;
    this.size++;
    return content;
  }

  remove(id: number): void {
    this.present[id] = 0;
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
