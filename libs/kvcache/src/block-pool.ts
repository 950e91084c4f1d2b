import { assert } from '@baton/kernel';
import type { BlockList } from './block-list';
import { FreeList } from './free-list';
import { PrefixIndex } from './prefix-index';

export interface BlockPoolOptions {
  readonly numBlocks: number;
  /** Without it nothing enters the prefix index and every match is empty. */
  readonly enablePrefixCaching: boolean;
}

/** The leading blocks of a prompt that the pool holds. A caller keeps one and lets `match` fill it again. */
export class PrefixMatch {
  ids = new Int32Array(64);
  /** Blocks found. */
  length = 0;
  /** Those among them that nobody uses now: sharing them takes them out of the free blocks. */
  idle = 0;
}

/**
 * The KV blocks of one engine: who uses how many, which content they hold, which is given up first. Blocks are shared by counting
 * references; a block that nobody uses stays findable until it is taken for something else, least recently freed first. The pool
 * knows no tokens, no sequences and no time; an engine drives it.
 */
export class BlockPool {
  readonly numBlocks: number;
  private readonly refs: Int32Array;
  private readonly generations: Int32Array;
  private readonly free: FreeList;
  private readonly index: PrefixIndex;
  private readonly enablePrefixCaching: boolean;

  constructor({ numBlocks, enablePrefixCaching }: BlockPoolOptions) {
    assert(Number.isInteger(numBlocks) && numBlocks >= 1, `a pool needs blocks: ${numBlocks}`);
    this.numBlocks = numBlocks;
    this.enablePrefixCaching = enablePrefixCaching;
    this.refs = new Int32Array(numBlocks);
    this.generations = new Int32Array(numBlocks);
    this.free = new FreeList(numBlocks);
    this.index = new PrefixIndex(numBlocks);
  }

  /** Blocks that nobody uses, whether they still hold findable content or not. */
  get freeBlocks(): number {
    return this.free.size;
  }

  get usedBlocks(): number {
    return this.numBlocks - this.free.size;
  }

  /** Blocks that a prefix match can find, used or free. */
  get cachedBlocks(): number {
    return this.index.size;
  }

  /** Share of the blocks in use, 0..1. */
  get usage(): number {
    return this.usedBlocks / this.numBlocks;
  }

  /** Finds how many leading blocks of what the list is to hold, at most `maxBlocks`, are here. Touches nothing; O(blocks found). */
  match({ hashes, hashFrom, hashCount }: BlockList, maxBlocks: number, into: PrefixMatch): void {
    into.length = 0;
    into.idle = 0;
    if (!this.enablePrefixCaching) return;
    const limit = Math.min(maxBlocks, hashCount);
    if (into.ids.length < limit) into.ids = new Int32Array(2 * limit);
    while (into.length < limit) {
      const block = this.index.find(hashes[hashFrom + into.length]!);
      if (block < 0) return;
      if (this.refs[block] === 0) into.idle++;
      into.ids[into.length++] = block;
    }
  }

  /** Adds the matched blocks to the owner's list, one reference each. Nothing may have been taken since the match. */
  share(match: PrefixMatch, list: BlockList): void {
    for (let i = 0; i < match.length; i++) {
      const block = match.ids[i]!;
      if (this.refs[block]!++ === 0) this.free.remove(block);
      list.push(block);
    }
    list.published = list.length;
  }

  /**
   * Adds `count` blocks of new content to the list, giving up what was freed the longest ago.
   *
   * @returns false, with nothing changed, when there are not so many free blocks.
   */
  take(count: number, list: BlockList): boolean {
    if (count > this.free.size) return false;
    for (let i = 0; i < count; i++) {
      const block = this.free.removeFirst();
      if (this.index.hashOf(block) !== 0) this.index.remove(block);
      this.generations[block]!++;
      this.refs[block] = 1;
      list.push(block);
    }
    return true;
  }

  /**
   * Lets the owner's first `upTo` blocks be found under their hashes, now that they are full. Blocks without a hash (none, or 0) stay private;
   * content that another block already stands for is not entered twice.
   */
  publish(list: BlockList, upTo: number): void {
    const { published, hashes, hashFrom, hashCount } = list;
    if (upTo <= published) return;
    list.published = upTo;
    if (!this.enablePrefixCaching) return;
    const end = Math.min(upTo, hashCount);
    for (let i = published; i < end; i++) {
      const block = list.ids[i]!;
      const hash = hashes[hashFrom + i]!;
      if (hash !== 0 && this.index.hashOf(block) === 0) this.index.add(hash, block);
    }
  }

  /** Gives up the owner's references and empties the list. Its tail is freed first, so it is evicted before its head. */
  release(list: BlockList): void {
    for (let i = list.length - 1; i >= 0; i--) {
      const block = list.ids[i]!;
      if (--this.refs[block]! === 0) this.free.append(block);
    }
    list.length = 0;
    list.published = 0;
  }

  /** Rises each time the block is taken for other content: whoever remembers (block, generation) recognises a stale reference. */
  generationOf(block: number): number {
    return this.generations[block]!;
  }

  /** Owners of the block. */
  referencesOf(block: number): number {
    return this.refs[block]!;
  }

  /** Free blocks, the one that is given up next first. For tests and audits: O(free blocks). */
  freeOrder(): number[] {
    return this.free.toArray();
  }

  /** The content of each block, 0 where none can be found. For tests and audits: O(blocks). */
  contents(): number[] {
    return Array.from({ length: this.numBlocks }, (_, block) => this.index.hashOf(block));
  }

  /**
   * Checks block conservation: references = Σ over owners, free = unreferenced, and every findable block is found under its hash.
   *
   * @param owners every list that holds blocks
   * @throws InvariantError when blocks were lost or given twice.
   */
  audit(owners: Iterable<BlockList>): void {
    const expected = new Int32Array(this.numBlocks);
    for (const list of owners) {
      for (let i = 0; i < list.length; i++) expected[list.ids[i]!]!++;
    }
    const free = new Set(this.free.toArray());
    assert(free.size === this.free.size, 'the free list holds a block twice');
    let cached = 0;
    for (let block = 0; block < this.numBlocks; block++) {
      assert(this.refs[block] === expected[block], `block ${block} has lost count of its owners`);
      assert(free.has(block) === (expected[block] === 0), `block ${block} is used and free`);
      const hash = this.index.hashOf(block);
      if (hash === 0) continue;
      cached++;
      assert(this.index.find(hash) === block, `block ${block} is not found under its hash`);
    }
    assert(cached === this.index.size, 'the prefix index has lost count');
  }
}
