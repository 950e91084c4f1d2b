import type { BlockList } from './block-list';
import { type BlockPool, PrefixMatch } from './block-pool';
import type { KvLayout } from './kv-layout';

/**
 * The hits of a prompt in the layer groups after the first. A hit is the longest one that all
 * groups have: full groups need all of its blocks, windowed ones the blocks of the window at its
 * end. Source: `HybridKVCacheCoordinator.find_longest_cache_hit` of vLLM.
 */
export class GroupMatch {
  /** Matches by group, from the second group on. */
  readonly hits: readonly PrefixMatch[];

  constructor(
    private readonly pool: BlockPool,
    private readonly layout: KvLayout,
  ) {
    this.hits = Array.from({ length: layout.perBlock - 1 }, () => new PrefixMatch());
  }

  /**
   * The number of the first `most` blocks, present in the first group, that are a hit in all
   * groups.
   *
   * @param lists of the groups from the second on
   * @param dropped blocks that do not count, from the end of what all full groups have
   */
  match(lists: readonly BlockList[], most: number, dropped = 0): number {
    const { full, windowed } = this.layout;
    let length = most;
    for (let i = 0; i < full - 1; i++) length = this.leading(lists[i]!, length);
    length = Math.max(0, length - dropped);
    if (windowed > 0) length = this.windowHit(lists, length);
    const outside = this.layout.slidAt(length * this.layout.blockSize);
    lists.forEach((list, i) => this.collect(list, i < full - 1 ? 0 : outside, length));
    return length;
  }

  /** Unused blocks among the found ones, without the first `slid` of windowed groups. */
  idle(slid: number): number {
    let idle = 0;
    this.hits.forEach(({ ids, length }, i) => {
      for (let at = this.lost(i, slid); at < length; at++) if (this.pool.isIdle(ids[at]!)) idle++;
    });
    return idle;
  }

  /** Adds them to the lists of the owner, which are empty. */
  share(lists: readonly BlockList[], slid: number): void {
    lists.forEach((list, i) => {
      const hit = this.hits[i]!;
      const lost = this.lost(i, slid);
      hit.ids.copyWithin(0, lost, hit.length);
      hit.length -= lost;
      if (i >= this.layout.full - 1) list.skip(slid);
      this.pool.share(hit, list);
    });
  }

  /** The found blocks of windowed group `i` that a longer context leaves behind. */
  private lost(i: number, slid: number): number {
    if (i < this.layout.full - 1) return 0;
    const { length, from } = this.hits[i]!;
    return Math.min(length, Math.max(0, slid - from));
  }

  private leading(list: BlockList, most: number): number {
    let length = 0;
    while (length < most && this.pool.find(list, length) >= 0) length++;
    return length;
  }

  private windowHit(lists: readonly BlockList[], most: number): number {
    const { layout, pool } = this;
    const windowed = lists.slice(layout.full - 1);
    const isFound = (at: number) => windowed.every((list) => pool.find(list, at) >= 0);
    if (layout.isChunked) {
      let length = layout.slidAt(most * layout.blockSize);
      while (length < most && isFound(length)) length++;
      return length;
    }
    let run = 0;
    for (let at = most - 1; at >= 0; at--) {
      run = isFound(at) ? run + 1 : 0;
      if (run > 0 && run >= layout.hitBlocks) return at + run;
    }
    return run;
  }

  private collect(list: BlockList, from: number, end: number): void {
    const hit = this.hits[list.group - 1]!;
    if (hit.ids.length < end - from) hit.ids = new Int32Array(2 * (end - from));
    hit.from = from;
    hit.length = end - from;
    for (let at = from; at < end; at++) hit.ids[at - from] = this.pool.find(list, at);
  }
}
