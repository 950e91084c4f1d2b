import type { CacheState, WarmCache } from '@baton/engine';
import { type Micros, secondsToUs } from '@baton/kernel';
import type { VirtualEngine } from '../virtual-engine';

/** A prefix cache that an engine fetches from another one. */
export interface PeerCache {
  readonly cache: WarmCache;
  /** How long it is on the link of the engine that fetches it. */
  readonly fetchUs: Micros;
}

/**
 * The prefix cache of the ready engine of the same pool that has the most. Undefined: none has any.
 * O(engines × blocks).
 */
export function peerCacheFor(
  engine: VirtualEngine,
  engines: readonly VirtualEngine[],
): PeerCache | undefined {
  let best: { cache: WarmCache; blocks: number } | undefined;
  for (const peer of engines) {
    if (peer.poolIndex !== engine.poolIndex || !peer.isReady) continue;
    const cache = sharedPart(peer.engine.cacheState());
    const blocks = cache.freeOrder.reduce((count, content) => count + (content > 0 ? 1 : 0), 0);
    if (blocks > (best?.blocks ?? 0)) best = { cache, blocks };
  }
  if (best === undefined) return undefined;
  const { link, kvBytesPerToken, options } = engine.pool;
  const bytes = best.blocks * options.blockSize * kvBytesPerToken;
  const fetchUs = link.baseLatencyUs + secondsToUs(bytes / link.bytesPerSecond);
  return { cache: best.cache, fetchUs };
}

/**
 * Contents that are shared, with those in use as the most recent. Names below 0 are those that a
 * preempted request gave to its own blocks. Contents are numbered from the beginnings of prompts
 * on, so the ends of prompts are evicted first.
 */
function sharedPart({ contents, freeOrder, freeGroups }: CacheState): WarmCache {
  const free = new Set(freeOrder.filter((_content, i) => freeGroups[i] === 0));
  const used = contents.filter((content) => content > 0 && !free.has(content)).reverse();
  return {
    freeOrder: [...freeOrder.map((content) => Math.max(0, content)), ...used],
    freeGroups: [...freeGroups, ...used.map(() => 0)],
  };
}
