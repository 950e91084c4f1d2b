import { assert, RecentContents } from '@baton/kernel';
import { auditBlocks } from './block-audit';
import { type BlockList, runEnd } from './block-list';
import { BlockSpans } from './block-spans';
import type { BlockTable } from './block-table';
import type { ContentWatcher } from './content-watcher';
import { createTable } from './create-table';
import type { FreeOrder } from './free-order';

export interface BlockPoolOptions {
  readonly numBlocks: number;
  /** Whether blocks enter the prefix index. Without it every match is empty. */
  readonly enablePrefixCaching: boolean;
  /** Hashes are the integers 1..contentCount, whose lookup is faster. Unset or 0: any numbers. */
  readonly contentCount?: number | undefined;
  /** Groups of layers whose blocks can be found. Unset: 1. */
  readonly groups?: number | undefined;
  /** The unused block to evict: least recently freed (`lru`, default), or filled first (`fifo`). */
  readonly evictionPolicy?: 'lru' | 'fifo' | undefined;
  /** Host memory that keeps evicted blocks in LRU order, in blocks; default 0. */
  readonly hostBlocks?: number | undefined;
  /** Optional watcher of the pool's contents. */
  readonly contentWatcher?: ContentWatcher | undefined;
}

/** The leading blocks of a prompt that the pool holds. A caller reuses one object for `match`. */
export class PrefixMatch {
  ids = new Int32Array(64);
  /** Place of the first of them in the prompt; above 0 in windowed groups. */
  from = 0;
  /** Blocks found. */
  length = 0;
  /** The unused ones among them: sharing them takes them out of the free blocks. */
  idle = 0;
  /** Blocks after them in host memory; each needs a block here to be loaded into. */
  inHost = 0;
}

/**
 * The KV blocks of one engine: their owners, their content, and the order of eviction. Blocks are
 * shared by counting owners; an unused block stays findable until it is taken for other content,
 * least recently freed first. Private blocks, which no other owner will ever find, are
 * interchangeable: they are counted, and have ids only on request. The pool has no notion of
 * tokens, sequences or time; an engine drives it.
 */
export class BlockPool {
  readonly numBlocks: number;
  private readonly table: BlockTable;
  private readonly spans: BlockSpans;
  private readonly order: FreeOrder;
  private readonly host: RecentContents | undefined;
  private readonly enablePrefixCaching: boolean;
  private watcher: ContentWatcher | undefined;
  private lastOwnName = -1;
  /** Host memory and watchers have only blocks of the first group. */
  private readonly lastOfFirstGroup: number;

  constructor({ numBlocks, enablePrefixCaching, ...options }: BlockPoolOptions) {
    assert(Number.isInteger(numBlocks) && numBlocks >= 1, `a pool needs blocks: ${numBlocks}`);
    const { contentCount, groups, evictionPolicy = 'lru', hostBlocks = 0 } = options;
    this.numBlocks = numBlocks;
    this.enablePrefixCaching = enablePrefixCaching;
    this.watcher = options.contentWatcher;
    this.table = createTable(numBlocks, contentCount, groups);
    this.lastOfFirstGroup = this.table.lastId / (groups ?? 1);
    this.spans = new BlockSpans(this.table.lastId, numBlocks, evictionPolicy);
    this.order = this.spans.order;
    this.host = hostBlocks > 0 ? new RecentContents(hostBlocks) : undefined;
  }

  /** Unused blocks, with or without findable content. */
  get freeBlocks(): number {
    return this.order.size;
  }

  get usedBlocks(): number {
    return this.numBlocks - this.order.size;
  }

  /** Blocks that a prefix match can find, used or free. */
  get cachedBlocks(): number {
    return this.table.size;
  }

  /** Share of the blocks in use, 0..1. */
  get usage(): number {
    return this.usedBlocks / this.numBlocks;
  }

  /**
   * Counts the leading blocks of the list's content in this pool, at most `maxBlocks`. Changes
   * nothing; O(blocks found).
   */
  match(list: BlockList, maxBlocks: number, into: PrefixMatch): void {
    const limit = this.enablePrefixCaching ? Math.min(maxBlocks, list.hashCount) : 0;
    if (into.ids.length < limit) into.ids = new Int32Array(2 * limit);
    into.length = 0;
    into.idle = 0;
    into.inHost = 0;
    while (into.length < limit && this.matchSpan(list, limit, into));
    if (this.host === undefined) return;
    const { hashes, hashFrom } = list;
    let found = into.length;
    while (found < limit && this.host.has(hashes[hashFrom + found]!)) found++;
    into.inHost = found - into.length;
  }

  /** The block with the list's content of this place, -1 when there is none. */
  find({ hashes, hashFrom, group }: BlockList, at: number): number {
    return this.table.find(hashes[hashFrom + at]!, group);
  }

  /** Whether a block of another group than the first, which can be found, is unused. */
  isIdle(id: number): boolean {
    return this.spans.isFreeAt(id);
  }

  /**
   * Adds the matched blocks to the owner's list, which must be empty. Those in host memory count as
   * used, and the owner takes blocks to load them into. No block may have been taken since the
   * match.
   */
  share(match: PrefixMatch, list: BlockList): void {
    const { ids, length } = match;
    list.append(ids, length);
    for (let from = 0; from < length;) {
      const end = list.group === 0 ? runEnd(ids, from, length) : from + 1;
      this.spans.own(ids[from]!, end - from);
      from = end;
    }
    list.published = list.numbered;
    if (match.inHost > 0) this.useInHost(match, list);
  }

  /**
   * Takes `count` blocks for new content, evicting by the eviction policy; the owner adds them to
   * its list.
   *
   * @returns false, with nothing changed, when there are not enough free blocks.
   */
  take(count: number): boolean {
    const { order } = this;
    if (count > order.size) return false;
    let rest = count - order.takePrivate(count);
    while (rest > 0) {
      rest -= this.evict(rest);
      if (rest > 0) rest -= order.takePrivate(rest);
    }
    return true;
  }

  /**
   * Publishes the owner's first `upTo` blocks under their hashes, now that they are full. Blocks
   * without a hash (none, or 0) stay private; content that another block already has is not entered
   * twice.
   */
  publish(list: BlockList, upTo: number): void {
    const { published, hashes, hashFrom, hashCount } = list;
    if (upTo <= published) return;
    list.published = upTo;
    if (!this.enablePrefixCaching) return;
    const end = Math.min(upTo, hashCount);
    for (let i = Math.max(published, list.skipped); i < end; i++) {
      const hash = hashes[hashFrom + i]!;
      if (hash !== 0) this.enter(list, i, hash);
    }
    this.createSpans(list, published);
  }

  /**
   * Like `publish`, for an owner that will come back. In each group, blocks without a hash after
   * the hashed ones get private negative hashes, so that the owner can find them again until they
   * are evicted.
   */
  publishOwn(lists: readonly BlockList[], upTo: number): void {
    for (const list of lists) this.publish(list, upTo);
    const { hashes, hashFrom, hashCount } = lists[0]!;
    if (!this.enablePrefixCaching || hashCount >= upTo) return;
    const named = Array.from({ length: upTo }, (_, i) =>
      i < hashCount ? hashes[hashFrom + i]! : this.lastOwnName--,
    );
    for (const list of lists) {
      list.describe(named);
      list.published = hashCount;
      this.publish(list, upTo);
    }
  }

  /**
   * Frees the owner's blocks and empties the list. Its tail is freed first, so it is evicted before
   * its head; partial blocks are evicted before all others.
   */
  release(list: BlockList): void {
    const { order } = this;
    const full = this.enablePrefixCaching ? list.published : 0;
    const fullRest = Math.min(Math.max(full - list.numbered, 0), list.rest);
    if (list.rest > fullRest) order.freedPartial(list.rest - fullRest);
    if (fullRest > 0) order.freedPrivate(fullRest);
    this.releaseNumbered(list, list.numbered);
    list.clear();
  }

  /** Frees the owner's blocks before this one, which the window of their layers has passed. */
  releaseHead(list: BlockList, upTo: number): void {
    const rest = upTo - Math.max(list.numbered, list.skipped);
    if (rest > 0) this.order.freedPrivate(rest);
    this.releaseNumbered(list, Math.min(upTo, list.numbered));
    list.skip(upTo);
  }

  /** Frees the tail first; the owner can lack a part of it. */
  private releaseNumbered(list: BlockList, upTo: number): void {
    const { order, table } = this;
    const { ids, hasPrivateIds } = list;
    const full = this.enablePrefixCaching ? list.published : 0;
    for (let end = upTo; end > list.skipped;) {
      const id = ids[end - 1]!;
      if (id < 0 || (hasPrivateIds && table.hashOf(id) === 0)) {
        if (id > 0) table.vacatePrivate(id);
        end--;
        if (end < full) order.freedPrivate(1);
        else order.freedPartial(1);
        continue;
      }
      const from = this.runStart(list, end, list.skipped);
      this.spans.disown(ids[from]!, end - from);
      end = from;
    }
  }

  /**
   * Frees private blocks that are on no list: `full` ones, and partial ones, which are reused next.
   */
  giveBack(full: number, partial = 0): void {
    this.order.freedPartial(partial);
    this.order.freedPrivate(full);
  }

  /**
   * Clears all findable content; with `andHost` also host memory.
   *
   * @returns false, with nothing changed, while any block is in use, as vLLM's pool does.
   */
  forget(andHost: boolean): boolean {
    const { numBlocks, order } = this;
    if (this.usedBlocks > 0) return false;
    const { watcher } = this;
    this.watcher = undefined;
    this.take(numBlocks);
    this.watcher = watcher;
    watcher?.cleared();
    order.freedPrivate(numBlocks);
    if (andHost) this.host?.clear();
    return true;
  }

  /**
   * Ids of the owner's blocks, which stay the same until it releases them: private blocks get
   * theirs now.
   */
  idsOf(list: BlockList): number[] {
    for (let i = 0; i < list.length; i++) {
      if (i < list.numbered && list.ids[i]! >= 0) continue;
      list.number(i, this.table.drawPrivate());
      list.hasPrivateIds = true;
    }
    return Array.from(list.ids.subarray(0, list.numbered));
  }

  /** Rises each time the id gets other content: (id, generation) reveals a stale reference. */
  generationOf(id: number): number {
    return this.table.generationOf(id);
  }

  /** Owners of a findable block. O(blocks). */
  ownersOf(id: number): number {
    return Math.max(0, this.spans.owners()[id]!);
  }

  /** Hashes of the free blocks, next eviction first; 0 = nothing findable. O(blocks). */
  freeOrder(): number[] {
    return this.spans.freeIds().map((id) => (id < 0 ? 0 : this.table.hashOf(id)));
  }

  /** The layer groups of those blocks. */
  freeGroups(): number[] {
    const { spans, lastOfFirstGroup: last } = this;
    return spans.freeIds().map((id) => Math.max(0, Math.ceil(id / last) - 1));
  }

  /** The content of host memory, the least recently used first. For tests and audits: O(blocks). */
  hostContents(): number[] {
    return this.host?.toArray() ?? [];
  }

  /** Findable content in ascending order. For tests and audits: O(blocks). */
  contents(): number[] {
    const { table } = this;
    const hashes = Array.from({ length: table.lastId }, (_, i) => table.hashOf(i + 1));
    return hashes.filter((hash) => hash !== 0).sort((a, b) => a - b);
  }

  /**
   * Checks the invariants of blocks.
   *
   * @param lists every list that holds blocks; `unlisted`: private blocks on none
   * @throws InvariantError when blocks were lost or given twice.
   */
  audit(lists: Iterable<BlockList>, unlisted = 0): void {
    const { table, spans, usedBlocks, lastOfFirstGroup: idsPerGroup } = this;
    auditBlocks({ table, spans, usedBlocks, idsPerGroup }, lists, unlisted);
  }

  /**
   * Extends the match by the span at its end, as far as the list agrees with it; false when there
   * is none.
   */
  private matchSpan(list: BlockList, limit: number, into: PrefixMatch): boolean {
    const { table } = this;
    const { hashes, hashFrom } = list;
    const { ids, length } = into;
    const first = table.find(hashes[hashFrom + length]!, list.group);
    if (first < 0) return false;
    const most = Math.min(this.spans.lengthAt(first), limit - length);
    let found = 0;
    while (found < most && table.isAt(hashes[hashFrom + length + found]!, first + found)) {
      ids[length + found] = first + found;
      found++;
    }
    into.length += found;
    if (this.spans.isFreeAt(first)) into.idle += found;
    return found > 0;
  }

  private enter(list: BlockList, at: number, hash: number): void {
    const privateId = at < list.numbered ? list.ids[at]! : -1;
    const id = this.table.enter(hash, privateId, list.group);
    if (id <= 0) return;
    list.number(at, id);
    if (hash > 0 && list.group === 0)
      this.watcher?.stored(hash, at === 0 ? 0 : list.hashes[list.hashFrom + at - 1]!);
  }

  /** Makes spans of the blocks from this place on that have just become findable. */
  private createSpans(list: BlockList, from: number): void {
    for (let end = list.numbered; end > from;) {
      const id = list.ids[end - 1]!;
      if (id < 0 || (list.hasPrivateIds && this.table.hashOf(id) === 0)) {
        end--;
        continue;
      }
      const start = this.runStart(list, end, from);
      this.spans.create(list.ids[start]!, end - start);
      end = start;
    }
  }

  /**
   * Start of the run of consecutive findable ids that ends before `end`, at or after `from`. In
   * groups other than the first owners begin anywhere, so each block is its own run.
   */
  private runStart({ ids, hasPrivateIds, group }: BlockList, end: number, from: number): number {
    let start = end - 1;
    if (group > 0) return start;
    while (start > from && ids[start - 1] === ids[start]! - 1) {
      if (hasPrivateIds && this.table.hashOf(ids[start - 1]!) === 0) break;
      start--;
    }
    return start;
  }

  private observeRemoved(hash: number): void {
    if (hash > 0) this.watcher!.removed(hash);
  }

  /** Evicts the tail before the head, because more prompts share the head. */
  private useInHost({ length, inHost }: PrefixMatch, { hashes, hashFrom }: BlockList): void {
    for (let i = length + inHost - 1; i >= length; i--) this.host!.use(hashes[hashFrom + i]!);
  }

  /** Evicts at most `most` blocks of the first span; returns their number. */
  private evict(most: number): number {
    const { first } = this.order;
    const length = this.spans.lengthAt(first);
    const count = Math.min(length, most);
    const stays = first + length - count;
    const isOfFirst = first <= this.lastOfFirstGroup;
    if (this.host !== undefined && isOfFirst) {
      for (let id = first + length - 1; id >= stays; id--) this.host.use(this.table.hashOf(id));
    }
    if (this.watcher !== undefined && isOfFirst) {
      for (let id = stays; id < stays + count; id++) this.observeRemoved(this.table.hashOf(id));
    }
    this.table.remove(stays, count);
    this.spans.evict(count);
    return count;
  }
}
