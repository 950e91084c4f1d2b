import { cacheFetchUs, fullestPeer, type FreeContents } from '@baton/kvcache';
import type { Micros } from '@baton/kernel';
import type { VirtualEngine } from '../virtual-engine';

/** A prefix cache that an engine fetches from another one. */
export interface PeerCache {
  readonly cache: FreeContents;
  /** Time for which the cache occupies the link of the engine that fetches it. */
  readonly fetchUs: Micros;
}

/**
 * The largest prefix cache of the ready engines of a pool. Undefined: all are empty. O(engines +
 * blocks).
 */
export function peerCacheFor(
  { pool, poolIndex }: VirtualEngine,
  engines: readonly VirtualEngine[],
): PeerCache | undefined {
  const peers = engines.filter((each) => each.poolIndex === poolIndex && each.isReady);
  const cache = fullestPeer(peers.map(({ engine }) => engine))?.sharedCache();
  if (cache === undefined || cache.freeOrder.length === 0) return undefined;
  const { blockSize } = pool.options;
  return { cache, fetchUs: cacheFetchUs(cache, { ...pool, blockSize }) };
}
