import { BlockList } from './block-list';
import type { BlockPool } from './block-pool';

/** Free blocks, next eviction first. */
export interface FreeContents {
  /** Their hashes; 0 = nothing findable. */
  readonly freeOrder: readonly number[];
  /** The groups of layers that they belong to. */
  readonly freeGroups: readonly number[];
}

/**
 * Fills a new pool with free blocks of this content, or with the last of them if it has fewer
 * blocks.
 */
export function warmUp(pool: BlockPool, { freeOrder, freeGroups }: FreeContents): void {
  const list = new BlockList();
  for (let i = Math.max(0, freeOrder.length - pool.numBlocks); i < freeOrder.length; i++) {
    list.group = freeGroups[i] ?? 0;
    list.describe([freeOrder[i]!]);
    pool.take(1);
    list.add(1);
    pool.publish(list, 1);
    pool.release(list);
  }
}
