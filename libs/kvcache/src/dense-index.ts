import { assert } from '@baton/kernel';
import type { PrefixIndex } from './prefix-index';

/**
 * More contents than this are hashed instead: 2^20 take 4 MiB per engine, about what a hashed index of the largest engines takes, and beyond
 * that a run of ids no longer stays in a processor's cache anyway.
 */
export const DENSE_CONTENTS_MAX = 2 ** 20;

const FIRST_CAPACITY = 1_024;

/**
 * The index for hashes that are the integers 1..contentCount: an array by content. The ids of a prompt follow one another, so looking them up
 * walks through memory instead of jumping about in it. It grows with the largest id that was ever put in.
 */
export class DenseIndex implements PrefixIndex {
  size = 0;
  /** Block + 1 by content, 0 = none. */
  private blocks = new Int32Array(0);
  private readonly contents: Int32Array;

  constructor(
    numBlocks: number,
    private readonly contentCount: number,
  ) {
    this.contents = new Int32Array(numBlocks);
  }

  hashOf(block: number): number {
    return this.contents[block]!;
  }

  find(content: number): number {
    return content < this.blocks.length ? this.blocks[content]! - 1 : -1;
  }

  add(content: number, block: number): boolean {
    if (content >= this.blocks.length) this.grow(content);
    if (this.blocks[content] !== 0) return false;
    this.blocks[content] = block + 1;
    this.contents[block] = content;
    this.size++;
    return true;
  }

  remove(block: number): void {
    this.blocks[this.contents[block]!] = 0;
    this.contents[block] = 0;
    this.size--;
  }

  private grow(content: number): void {
    assert(content <= this.contentCount, `a content is beyond the ${this.contentCount} announced`);
    const wanted = Math.max(FIRST_CAPACITY, content + 1, this.blocks.length * 2);
    const blocks = new Int32Array(Math.min(wanted, this.contentCount + 1));
    blocks.set(this.blocks);
    this.blocks = blocks;
  }
}
