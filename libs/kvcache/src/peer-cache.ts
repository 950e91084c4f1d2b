import { type Micros, secondsToUs } from '@baton/kernel';
import type { BlockList } from './block-list';
import type { BlockPool } from './block-pool';
import type { FreeContents } from './warm-up';

/** The content of a prefix cache. */
export interface CacheState extends FreeContents {
  readonly contents: readonly number[];
  readonly hostContents: readonly number[];
}

/** The content of the pool that a prefix match can find, and that of its free blocks. O(blocks). */
export function cacheStateOf(pool: BlockPool): CacheState {
  return {
    contents: pool.contents(),
    hostContents: pool.hostContents(),
    freeOrder: pool.freeOrder(),
    freeGroups: pool.freeGroups(),
  };
}

/**
 * What another engine may begin with: the shared content of free blocks in order of eviction, then
 * that of blocks in use, the ends of prompts before their beginnings. Names below 0 are those that
 * a preempted request gave to its own blocks. O(blocks).
 *
 * @param lists all lists that hold blocks
 */
export function sharedCacheOf(pool: BlockPool, lists: readonly BlockList[]): FreeContents {
  const [order, groups] = [pool.freeOrder(), pool.freeGroups()];
  const places = [...order.keys()].filter((at) => order[at]! > 0);
  const free = places.map((at) => order[at]!);
  const inFirst = new Set(places.filter((at) => groups[at] === 0).map((at) => order[at]!));
  const used = contentsInUse(pool, lists).filter((content) => !inFirst.has(content));
  return {
    freeOrder: [...free, ...used],
    freeGroups: [...places.map((at) => groups[at]!), ...used.map(() => 0)],
  };
}

function contentsInUse(pool: BlockPool, lists: readonly BlockList[]): number[] {
  const depths = new Map<number, number>();
  for (const list of lists.filter(({ group }) => group === 0)) {
    const full = Math.min(list.published, list.hashCount);
    for (let at = list.skipped; at < full; at++) {
      const content = list.hashes[list.hashFrom + at]!;
      if (content > 0 && pool.find(list, at) >= 0) depths.set(content, at);
    }
  }
  return [...depths.keys()].sort((a, b) => depths.get(b)! - depths.get(a)!);
}

/** An engine whose prefix cache another one may fetch. */
export interface CachePeer {
  /** Blocks with content that others can find. */
  readonly cachedBlocks: number;
}

/**
 * The engine with most cached content; of equal ones the first. Undefined when no engine has any.
 */
export function fullestPeer<P extends CachePeer>(peers: readonly P[]): P | undefined {
  const most = Math.max(0, ...peers.map(({ cachedBlocks }) => cachedBlocks));
  return most === 0 ? undefined : peers.find(({ cachedBlocks }) => cachedBlocks === most);
}

/** The link of an engine that fetches a cache, and the size of its blocks. */
export interface CacheLink {
  readonly blockSize: number;
  /** Bytes of KV per token that cross the link. */
  readonly kvBytesPerToken: number;
  readonly link: { readonly bytesPerSecond: number; readonly baseLatencyUs: Micros };
}

/** Time that a cache takes on the link of the engine that fetches it. */
export function cacheFetchUs(
  { freeOrder }: FreeContents,
  { blockSize, kvBytesPerToken, link }: CacheLink,
): Micros {
  const bytes = freeOrder.length * blockSize * kvBytesPerToken;
  return link.baseLatencyUs + secondsToUs(bytes / link.bytesPerSecond);
}
