import { BlockPool, PrefixMatch } from '@baton/kvcache';
import type { EngineSequence } from './sequence';
import type { EngineOptions } from './types';

/**
 * Binds sequences to the block pool: how many blocks their tokens need, which of them the prefix
 * cache holds, which blocks are full. Owns the pool; the batch former and the engine call it.
 */
export class SequenceBlocks {
  readonly pool: BlockPool;
  readonly blockSize: number;
  private readonly enablePrefixCaching: boolean;
  /** What the last `match` found. */
  readonly hit = new PrefixMatch();

  constructor(options: EngineOptions) {
    this.pool = new BlockPool({ ...options, hostBlocks: options.hostTier?.blocks });
    this.blockSize = options.blockSize;
    this.enablePrefixCaching = options.enablePrefixCaching;
  }

  /**
   * Finds the sequence's tokens in the prefix cache, here or in host memory, all but the last,
   * which must be computed to sample from; returns tokens.
   */
  match(seq: EngineSequence): number {
    return this.find(seq, seq.targetTokens - 1);
  }

  /**
   * Gives the sequence, which has no blocks, those that `match` found and new ones up to `tokens`;
   * false and nothing if they lack, or if fewer than `spare` would be left.
   */
  start(seq: EngineSequence, tokens: number, spare: number): boolean {
    if (!this.fits(tokens, spare)) return false;
    const fresh = this.blocksFor(tokens) - this.hit.length;
    this.pool.share(this.hit, seq.blocks);
    this.pool.take(fresh);
    seq.blocks.add(fresh);
    seq.hostTokens = this.hit.inHost * this.blockSize;
    return true;
  }

  /**
   * Whether blocks up to `tokens` and `spare` more are free for a sequence without blocks, beside
   * those that `match` found.
   */
  fits(tokens: number, spare: number): boolean {
    const free = this.pool.freeBlocks - this.hit.idle - spare;
    return this.blocksFor(tokens) - this.hit.length <= free;
  }

  /** As `fits`, for a sequence with blocks. */
  fitsMore(seq: EngineSequence, tokens: number, spare: number): boolean {
    const fresh = Math.max(0, this.blocksFor(tokens) - seq.blocks.length);
    return fresh + spare <= this.pool.freeBlocks;
  }

  /** Adds what the first `tokens` tokens still need; false and nothing if it lacks. */
  extend(seq: EngineSequence, tokens: number): boolean {
    const fresh = this.blocksFor(tokens) - seq.blocks.length;
    if (fresh <= 0) return true;
    if (!this.pool.take(fresh)) return false;
    seq.blocks.add(fresh);
    return true;
  }

  /**
   * Opens the next block of a decoding sequence whose blocks are full with `tokens` tokens. A block
   * must be free.
   */
  grow(seq: EngineSequence, tokens: number): void {
    this.publish(seq, tokens);
    this.pool.take(1);
    seq.blocks.add(1);
  }

  /**
   * As `grow`, for this many sequences that have nothing to publish; `list` updates their lists.
   */
  growUnlisted(blocks: number): void {
    if (blocks > 0) this.pool.take(blocks);
  }

  /** Records that the sequence has this many blocks, those of `growUnlisted` among them. */
  list(seq: EngineSequence, blocks: number): void {
    if (blocks > seq.blocks.length) seq.blocks.add(blocks - seq.blocks.length);
  }

  /** Whether blocks that the sequence will fill can be found by others. */
  hasMoreToPublish({ blocks }: EngineSequence): boolean {
    return this.enablePrefixCaching && blocks.hashCount > blocks.published;
  }

  /** Lets the full blocks among the first `tokens` tokens be found by others. */
  publish(seq: EngineSequence, tokens: number): void {
    this.pool.publish(seq.blocks, Math.floor(tokens / this.blockSize));
  }

  /**
   * As `publish`, for a sequence that will compute these tokens again; includes tokens that no
   * other sequence could find.
   */
  publishOwn(seq: EngineSequence, tokens: number): void {
    this.pool.publishOwn(seq.blocks, Math.floor(tokens / this.blockSize));
  }

  release(seq: EngineSequence): void {
    this.pool.release(seq.blocks);
    seq.hostTokens = 0;
  }

  blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.blockSize);
  }

  private find(seq: EngineSequence, tokens: number): number {
    this.pool.match(seq.blocks, Math.floor(tokens / this.blockSize), this.hit);
    return (this.hit.length + this.hit.inHost) * this.blockSize;
  }
}
