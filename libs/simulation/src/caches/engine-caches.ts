import type { FreeContents } from '@baton/kvcache';
import type { EngineRole } from '@baton/policies';
import type { VirtualEngine } from '../virtual-engine';

/** The prefix cache of an engine at the end of a run, without the blocks of requests under way. */
export interface EngineCache extends FreeContents {
  readonly role: EngineRole;
  /** Number of the engine among all that have started in its pool, from 0. */
  readonly place: number;
}

/** The caches of the ready engines. O(blocks). */
export function cachesOf(engines: readonly VirtualEngine[]): EngineCache[] {
  return engines
    .filter((each) => each.isReady)
    .map(({ engine, place, pool: { role } }) => {
      const { freeOrder, freeGroups } = engine.cacheState();
      return { role, place, freeOrder, freeGroups };
    });
}
