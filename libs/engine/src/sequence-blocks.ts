import type { Micros } from '@baton/kernel';
import {
  type KvPoolMember,
  PoolReader,
  BlockList,
  BlockPool,
  GroupMatch,
  type KvLayout,
  PrefixMatch,
  warmUp,
} from '@baton/kvcache';
import { prefillUs } from '@baton/step-time';
import { layoutOfEngine } from './engine-limits';
import type { EngineSequence } from './sequence';
import type { EngineOptions } from './port/engine-options';

/** The blocks that a sequence needs. */
export interface Wanted {
  /** Its leading tokens that need no computation. */
  readonly computed: number;
  /** Leading tokens that need blocks. */
  readonly tokens: number;
  /** Further blocks that must stay free. */
  readonly spare: number;
  /** True for the whole prompt, which may take several steps. Unset: for one step. */
  readonly isWhole?: boolean;
}

const NO_LISTS: readonly BlockList[] = [];

/**
 * Maps sequences to the block pool: the number of blocks that their tokens need, the blocks found
 * in the prefix cache, and the full blocks. Owns the pool; the scheduler and the engine call it.
 *
 * A sequence has a list of blocks for each group of layers. Without a prefix cache the blocks of
 * all groups but the first are interchangeable and only counted: their number follows from the
 * first list and from `slid`.
 */
export class SequenceBlocks {
  readonly pool: BlockPool;
  readonly blockSize: number;
  readonly layout: KvLayout;
  private readonly enablePrefixCaching: boolean;
  private readonly hasConnector: boolean;
  private readonly dropsLastHit: boolean;
  /** Tokens of the drafter behind those of a step. */
  readonly lookahead: number;
  /** Undefined without a KV pool. */
  private readonly shared: PoolReader | undefined;
  readonly isShared: boolean;
  /** The result of the last `match`. */
  readonly hit = new PrefixMatch();
  /** The same for the other groups. Undefined when their blocks are only counted. */
  private readonly others: GroupMatch | undefined;

  constructor(options: EngineOptions) {
    const { hostTier, kvPool, enablePrefixCaching } = options;
    this.layout = layoutOfEngine(options, options.stepTime.pipeline?.stages ?? 1);
    const groups = enablePrefixCaching ? this.layout.perBlock : 1;
    this.pool = new BlockPool({ ...options, groups, hostBlocks: kvPool ? 0 : hostTier?.blocks });
    if (options.warmCache) warmUp(this.pool, options.warmCache);
    this.blockSize = options.blockSize;
    this.enablePrefixCaching = enablePrefixCaching;
    this.hasConnector = options.hasConnector === true;
    this.dropsLastHit = options.speculation?.dropsLastHit === true;
    this.lookahead = options.speculation?.lookaheadTokens ?? 0;
    this.others = groups > 1 ? new GroupMatch(this.pool, this.layout) : undefined;
    this.shared = options.kvPool && readerOf(options.kvPool, options);
    this.isShared = this.shared !== undefined;
  }

  /**
   * Finds the sequence's tokens in the prefix cache, here, in host memory or in the KV pool, all
   * but the last, which must be computed to sample from; returns tokens.
   *
   * @param nowUs when blocks from elsewhere would be loaded
   */
  match(seq: EngineSequence, nowUs: Micros): number {
    const { hit, blockSize, others } = this;
    const most = Math.floor((seq.targetTokens - 1) / blockSize);
    if (others !== undefined) this.matchGroups(seq, others);
    else this.matchFirst(seq, most);
    const beyond = this.shared === undefined ? hit.inHost : this.matchShared(seq, most, nowUs);
    return (hit.length + beyond) * blockSize;
  }

  /** Reads the blocks that `match` found on other nodes; returns the time that this takes. */
  fetch(nowUs: Micros): Micros {
    return this.shared!.fetch(nowUs);
  }

  /**
   * With a pool, records that the KV of the first `tokens` tokens is complete, so that the pool may
   * keep it.
   */
  keep(seq: EngineSequence, tokens: number): void {
    this.shared!.keep(seq.blocks, Math.floor(tokens / this.blockSize));
  }

  /** Blocks over all groups that remote KV is to fill, behind those found in the cache. */
  missing({ remoteTokens, cachedTokens }: EngineSequence): number {
    const { layout, blockSize } = this;
    return layout.lacking(remoteTokens, cachedTokens / blockSize, layout.slidAt(remoteTokens));
  }

  /** Clears the prefix cache, with `andHost` also the memory of this node; then fills in `next`. */
  forget(andHost: boolean, next?: EngineOptions['warmCache']): boolean {
    const isDone = this.pool.forget(andHost);
    if (isDone && andHost) this.shared?.clear();
    if (isDone && next !== undefined) warmUp(this.pool, next);
    return isDone;
  }

  /**
   * Gives a waiting sequence the blocks that `match` found and new ones, or new ones beside its own
   * when it has any; returns false and gives none when there are too few.
   */
  start(seq: EngineSequence, wanted: Wanted): boolean {
    if (!this.fits(seq, wanted)) return false;
    const { computed, tokens } = wanted;
    if (seq.blocks.length > 0) return this.extend(seq, computed, tokens);
    const { pool, hit, layout, others } = this;
    const blocks = layout.blocksFor(tokens);
    if (layout.windowed > 0) seq.slid = layout.slidAt(computed);
    pool.share(hit, seq.blocks);
    others?.share(seq.others, seq.slid);
    pool.take(layout.lacking(tokens, hit.length, seq.slid));
    seq.blocks.add(blocks - hit.length);
    for (const list of seq.others) list.add(blocks - list.length);
    this.shared?.take();
    const beyond = this.shared?.found;
    seq.hostTokens = (beyond?.local ?? hit.inHost) * this.blockSize;
    seq.poolTokens = (beyond?.remote ?? 0) * this.blockSize;
    return true;
  }

  /** Whether the blocks are free that a waiting sequence lacks: see `start`. */
  fits({ blocks }: EngineSequence, { computed, tokens, spare, isWhole }: Wanted): boolean {
    const { layout, hit, others } = this;
    const slid = layout.windowed > 0 ? layout.slidAt(computed) : 0;
    const isFresh = blocks.length === 0;
    const had = isFresh ? hit.length : blocks.length;
    const idle = isFresh ? hit.idle + (others?.idle(slid) ?? 0) : 0;
    const lacking = isWhole
      ? layout.lackingWhole(tokens, had, slid)
      : layout.lacking(tokens, had, slid);
    return lacking <= this.pool.freeBlocks - idle - spare;
  }

  /**
   * Frees the blocks that the window has left with `computed` tokens in KV, then adds those that
   * the first `tokens` tokens still need; returns false and adds none when there are too few.
   */
  extend(seq: EngineSequence, computed: number, tokens: number): boolean {
    if (this.layout.windowed > 0) this.slide(seq, computed);
    const fresh = this.layout.blocksFor(tokens) - seq.blocks.length;
    if (fresh <= 0) return true;
    if (!this.pool.take(fresh * this.layout.perBlock)) return false;
    seq.blocks.add(fresh);
    for (const list of seq.others) list.add(fresh);
    return true;
  }

  /**
   * Like `slide`, for the end of a sequence, when vLLM hands a request's blocks to a connector:
   * these blocks are evicted before the rest.
   */
  slideAtEnd(seq: EngineSequence, computed: number): void {
    if (this.hasConnector && this.layout.windowed > 0) this.slide(seq, computed);
  }

  /**
   * Frees the blocks of windowed groups that no token after the first `computed` ones attends to.
   */
  slide(seq: EngineSequence, computed: number): void {
    const more = this.layout.slidAt(computed) - seq.slid;
    if (more <= 0) return;
    seq.slid += more;
    if (this.others === undefined) this.pool.giveBack(more * this.layout.windowed);
    else for (const list of this.windowsOf(seq)) this.pool.releaseHead(list, seq.slid);
  }

  /**
   * The number of its blocks that are on no list: those of all groups but the first, when these are
   * only counted.
   */
  unlistedOf({ blocks, slid }: EngineSequence): number {
    return this.others === undefined ? this.layout.held(blocks.length, slid) - blocks.length : 0;
  }

  /** The number of its blocks in all groups. */
  heldBy({ blocks, slid }: EngineSequence): number {
    return this.layout.held(blocks.length, slid);
  }

  /** Whether the blocks that a window leaves are findable, or will be once they are full. */
  hasListedWindow(seq: EngineSequence): boolean {
    if (this.others === undefined) return false;
    if (this.hasMoreToPublish(seq)) return true;
    return this.windowsOf(seq).some(({ numbered, skipped }) => numbered > skipped);
  }

  /**
   * Opens the next block of a decoding sequence whose blocks are full with `tokens` tokens. A block
   * of each group must be free.
   */
  grow(seq: EngineSequence, tokens: number): void {
    this.publish(seq, tokens);
    this.pool.take(this.layout.perBlock);
    seq.blocks.add(1);
    for (const list of seq.others) list.add(1);
  }

  /** Like `grow`, for this many sequences without blocks to publish; `list` updates their lists. */
  growUnlisted(sequences: number): void {
    if (sequences > 0) this.pool.take(sequences * this.layout.perBlock);
  }

  /** Like `slide`, for decoding sequences that free `blocks` blocks of each windowed group. */
  slideUnlisted(blocks: number): void {
    if (blocks > 0) this.pool.giveBack(blocks * this.layout.windowed);
  }

  /** Records that the sequence has this many blocks, including those of `growUnlisted`. */
  list(seq: EngineSequence, blocks: number): void {
    if (blocks <= seq.blocks.length) return;
    const fresh = blocks - seq.blocks.length;
    seq.blocks.add(fresh);
    for (const list of seq.others) list.add(fresh);
  }

  /** Records the blocks that `slideUnlisted` freed when `computed` tokens were in KV. */
  listSlid(seq: EngineSequence, computed: number): void {
    if (seq.isBehind) return;
    seq.slid = Math.max(seq.slid, this.layout.slidAt(computed));
    for (const list of this.windowsOf(seq)) if (seq.slid > list.skipped) list.skip(seq.slid);
  }

  /** Whether others will be able to find blocks that the sequence has yet to fill. */
  hasMoreToPublish({ blocks }: EngineSequence): boolean {
    return this.enablePrefixCaching && blocks.hashCount > blocks.published;
  }

  /** Publishes the full blocks among the first `tokens` tokens, so that others can find them. */
  publish(seq: EngineSequence, tokens: number): void {
    const full = Math.floor(tokens / this.blockSize);
    this.pool.publish(seq.blocks, full);
    for (const list of seq.others) this.pool.publish(list, full);
  }

  /** Like `publish`, for a sequence that has ended; the pool may keep its blocks. */
  publishAtEnd(seq: EngineSequence, tokens: number): void {
    this.publish(seq, tokens);
    if (this.isShared) this.keep(seq, tokens);
    this.slideAtEnd(seq, tokens);
  }

  /**
   * Like `publish`, for a sequence that will compute these tokens again; includes tokens that no
   * other sequence could find.
   */
  publishOwn(seq: EngineSequence, tokens: number): void {
    this.pool.publishOwn([seq.blocks, ...seq.others], Math.floor(tokens / this.blockSize));
  }

  release(seq: EngineSequence): void {
    this.releaseUnlisted(seq);
    this.pool.release(seq.blocks);
    for (const list of seq.others) this.pool.release(list);
  }

  /** The same for blocks kept until a batch had ended: the last group first, as in vLLM. */
  releaseLate(seq: EngineSequence): void {
    this.releaseUnlisted(seq);
    for (let i = seq.others.length - 1; i >= 0; i--) this.pool.release(seq.others[i]!);
    this.pool.release(seq.blocks);
  }

  private releaseUnlisted(seq: EngineSequence): void {
    if (this.layout.perBlock > 1) this.pool.giveBack(0, this.unlistedOf(seq));
    seq.hostTokens = 0;
    seq.poolTokens = 0;
    seq.slid = 0;
  }

  private windowsOf({ others }: EngineSequence): readonly BlockList[] {
    return this.others === undefined ? NO_LISTS : others.slice(this.layout.full - 1);
  }

  private matchFirst({ blocks }: EngineSequence, most: number): void {
    const { pool, hit } = this;
    pool.match(blocks, most, hit);
    const found = hit.length + hit.inHost;
    if (this.dropsLastHit && found > 0) pool.match(blocks, found - 1, hit);
  }

  /**
   * What all groups agree on. A block that will be dropped may be the last of the prompt; vLLM's
   * drafter has its layers among those that keep everything.
   */
  private matchGroups(seq: EngineSequence, others: GroupMatch): void {
    const { pool, hit, layout, dropsLastHit } = this;
    const { blocks, others: lists, targetTokens } = seq;
    const tokens = dropsLastHit ? targetTokens : targetTokens - 1;
    pool.match(blocks, Math.floor(tokens / this.blockSize), hit);
    while (lists.length < layout.perBlock - 1) {
      const list = new BlockList();
      list.group = lists.push(list);
    }
    for (const list of lists) list.describe(blocks.hashes, blocks.hashFrom, blocks.hashCount);
    const agreed = others.match(lists, hit.length, dropsLastHit ? 1 : 0);
    if (agreed < hit.length) pool.match(blocks, agreed, hit);
  }

  /** A sequence whose KV comes by a hand-over fetches nothing else. */
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
