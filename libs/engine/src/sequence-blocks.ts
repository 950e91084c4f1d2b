import type { Micros } from '@baton/kernel';
import { type KvPoolMember, PoolReader } from '@baton/kv-pool';
import { BlockPool, type KvLayout, PrefixMatch } from '@baton/kvcache';
import { prefillUs } from '@baton/step-time';
import { layoutOfEngine } from './engine-limits';
import type { EngineSequence } from './sequence';
import type { EngineOptions } from './port/engine-options';

/** Blocks that a sequence is to have. */
export interface Wanted {
  /** Its leading tokens that need no computation. */
  readonly computed: number;
  /** Leading tokens that need blocks. */
  readonly tokens: number;
  /** Blocks that must stay free beside them. */
  readonly spare: number;
}

/**
 * Binds sequences to the block pool: how many blocks their tokens need, which of them the prefix
 * cache holds, which blocks are full. Owns the pool; the batch former and the engine call it.
 *
 * A sequence's list has the blocks of its first group of layers. Those of the other groups follow
 * from it and from `slid`: they are private, and only counted.
 */
export class SequenceBlocks {
  readonly pool: BlockPool;
  readonly blockSize: number;
  readonly layout: KvLayout;
  private readonly enablePrefixCaching: boolean;
  /** Undefined: there is no KV pool. */
  private readonly shared: PoolReader | undefined;
  readonly isShared: boolean;
  /** What the last `match` found. */
  readonly hit = new PrefixMatch();

  constructor(options: EngineOptions) {
    const { hostTier, kvPool } = options;
    this.pool = new BlockPool({ ...options, hostBlocks: kvPool ? 0 : hostTier?.blocks });
    this.blockSize = options.blockSize;
    this.layout = layoutOfEngine(options);
    this.enablePrefixCaching = options.enablePrefixCaching;
    this.shared = options.kvPool && readerOf(options.kvPool, options);
    this.isShared = this.shared !== undefined;
  }

  /**
   * Finds the sequence's tokens in the prefix cache, here, in host memory or in the KV pool, all
   * but the last, which must be computed to sample from; returns tokens.
   *
   * @param nowUs when what lies elsewhere would be loaded
   */
  match(seq: EngineSequence, nowUs: Micros): number {
    const { hit, blockSize } = this;
    const most = Math.floor((seq.targetTokens - 1) / blockSize);
    this.pool.match(seq.blocks, most, hit);
    const behind = this.shared === undefined ? hit.inHost : this.matchShared(seq, most, nowUs);
    return (hit.length + behind) * blockSize;
  }

  /** Reads what `match` found for a sequence on other nodes; returns how long that takes. */
  fetch(nowUs: Micros): Micros {
    return this.shared!.fetch(nowUs);
  }

  /** With a pool: the KV of the first `tokens` tokens is complete, and the pool may keep it. */
  keep(seq: EngineSequence, tokens: number): void {
    this.shared!.keep(seq.blocks, Math.floor(tokens / this.blockSize));
  }

  /** Forgets what the prefix cache holds, `andHost` also the memory of this node. */
  forget(andHost: boolean): boolean {
    const isDone = this.pool.forget(andHost);
    if (isDone && andHost) this.shared?.clear();
    return isDone;
  }

  /**
   * Gives the sequence, which has no blocks, those that `match` found and new ones; false and
   * nothing if they lack.
   */
  start(seq: EngineSequence, wanted: Wanted): boolean {
    if (!this.fits(wanted)) return false;
    const { computed, tokens } = wanted;
    const { pool, hit, layout } = this;
    const blocks = layout.blocksFor(tokens);
    if (layout.windowed > 0) seq.slid = layout.slidAt(computed);
    pool.share(hit, seq.blocks);
    pool.take(layout.held(blocks, seq.slid) - hit.length);
    seq.blocks.add(blocks - hit.length);
    this.shared?.take();
    const behind = this.shared?.found;
    seq.hostTokens = (behind?.local ?? hit.inHost) * this.blockSize;
    seq.poolTokens = (behind?.remote ?? 0) * this.blockSize;
    return true;
  }

  /** Whether they are free for a sequence without blocks, beside those that `match` found. */
  fits({ computed, tokens, spare }: Wanted): boolean {
    const { layout, hit } = this;
    const free = this.pool.freeBlocks - hit.idle - spare;
    const slid = layout.windowed > 0 ? layout.slidAt(computed) : 0;
    return layout.needed(tokens, slid) - hit.length <= free;
  }

  /** As `fits`, for a sequence with blocks. */
  fitsMore(seq: EngineSequence, { computed, tokens, spare }: Wanted): boolean {
    const { layout } = this;
    const slid = layout.windowed > 0 ? Math.max(seq.slid, layout.slidAt(computed)) : 0;
    const fresh = layout.needed(tokens, slid) - layout.held(seq.blocks.length, seq.slid);
    return Math.max(0, fresh) + spare <= this.pool.freeBlocks;
  }

  /**
   * Gives back what the window has left behind when `computed` tokens are in KV, then adds what the
   * first `tokens` tokens still need; false, with nothing added, if it lacks.
   */
  extend(seq: EngineSequence, computed: number, tokens: number): boolean {
    if (this.layout.windowed > 0) this.slide(seq, computed);
    const fresh = this.layout.blocksFor(tokens) - seq.blocks.length;
    if (fresh <= 0) return true;
    if (!this.pool.take(fresh * this.layout.perBlock)) return false;
    seq.blocks.add(fresh);
    return true;
  }

  /** Gives back the blocks of windowed groups that no token behind `computed` others attends to. */
  slide(seq: EngineSequence, computed: number): void {
    const more = this.layout.slidAt(computed) - seq.slid;
    if (more <= 0) return;
    this.pool.giveBack(more * this.layout.windowed);
    seq.slid += more;
  }

  /**
   * Opens the next block of a decoding sequence whose blocks are full with `tokens` tokens. A block
   * of each group must be free.
   */
  grow(seq: EngineSequence, tokens: number): void {
    this.publish(seq, tokens);
    this.pool.take(this.layout.perBlock);
    seq.blocks.add(1);
  }

  /**
   * As `grow`, for this many sequences that have nothing to publish; `list` updates their lists.
   */
  growUnlisted(sequences: number): void {
    if (sequences > 0) this.pool.take(sequences * this.layout.perBlock);
  }

  /** As `slide`, for decoding sequences that give back `blocks` blocks of each windowed group. */
  slideUnlisted(blocks: number): void {
    if (blocks > 0) this.pool.giveBack(blocks * this.layout.windowed);
  }

  /** Records that the sequence has this many blocks, those of `growUnlisted` among them. */
  list(seq: EngineSequence, blocks: number): void {
    if (blocks > seq.blocks.length) seq.blocks.add(blocks - seq.blocks.length);
  }

  /** Records what `slideUnlisted` gave back when `computed` tokens were in KV. */
  listSlid(seq: EngineSequence, computed: number): void {
    if (!seq.isBehind) seq.slid = Math.max(seq.slid, this.layout.slidAt(computed));
  }

  /** Whether blocks that the sequence will fill can be found by others. */
  hasMoreToPublish({ blocks }: EngineSequence): boolean {
    return this.enablePrefixCaching && blocks.hashCount > blocks.published;
  }

  /** Lets the full blocks among the first `tokens` tokens be found by others. */
  publish(seq: EngineSequence, tokens: number): void {
    this.pool.publish(seq.blocks, Math.floor(tokens / this.blockSize));
  }

  /** As `publish`, for a sequence that has ended; the pool may keep what it leaves. */
  end(seq: EngineSequence, tokens: number): void {
    this.publish(seq, tokens);
    if (this.isShared) this.keep(seq, tokens);
  }

  /**
   * As `publish`, for a sequence that will compute these tokens again; includes tokens that no
   * other sequence could find.
   */
  publishOwn(seq: EngineSequence, tokens: number): void {
    this.pool.publishOwn(seq.blocks, Math.floor(tokens / this.blockSize));
  }

  release(seq: EngineSequence): void {
    if (this.layout.perBlock > 1) this.releaseUnlisted(seq);
    this.pool.release(seq.blocks);
    seq.hostTokens = 0;
    seq.poolTokens = 0;
    seq.slid = 0;
  }

  /** The blocks of all groups but the first; only full ones are worth keeping. */
  private releaseUnlisted(seq: EngineSequence): void {
    const { blocks, slid } = seq;
    const { windowed, full } = this.layout;
    const kept = this.layout.held(blocks.length, slid) - blocks.length;
    const ended = this.enablePrefixCaching ? Math.min(blocks.published, blocks.length) : 0;
    const whole = Math.max(0, ended - slid) * windowed + ended * (full - 1);
    this.pool.giveBack(whole, kept - whole);
  }

  /** A sequence whose KV comes by a hand-over fetches nothing beside it. */
  private matchShared(seq: EngineSequence, most: number, nowUs: Micros): number {
    const wish = { held: this.hit.length, most, tokens: seq.targetTokens };
    const shared = this.shared!;
    if (seq.state === 'unreserved') return shared.matchOwn(seq.blocks, wish);
    return shared.match(seq.blocks, wish, nowUs);
  }
}

function readerOf(member: KvPoolMember, options: EngineOptions): PoolReader {
  const { blockSize, stepTime, maxNumBatchedTokens, hostTier } = options;
  const { bytesPerBlock, bytesPerSecond } = hostTier!;
  return new PoolReader(member, {
    blockSize,
    loadUs: (blocks) => ((blocks * bytesPerBlock) / bytesPerSecond) * 1e6,
    computeUs: (tokens, cached) =>
      prefillUs(stepTime, { tokens: tokens - cached, cached }, maxNumBatchedTokens),
  });
}
