import type { EnginePresence } from '@baton/contract';
import type { NameParts } from '@baton/kernel';
import { CLAIM_TTL_MS } from '../limits';
import type { PresenceBoard } from '../port/presence';
import type { InProcessHub } from './hub';

export class MemoryPresence implements PresenceBoard {
  constructor(private readonly hub: InProcessHub) {}

  announceEngine(engine: EnginePresence, ttlMs: number): Promise<boolean> {
    return this.hub.call('announceEngine', () => {
      const { engines, places } = this.hub;
      const { engineId, index, name } = engine;
      engines.set(engineId, engine, ttlMs);
      const own = [String(index), name];
      for (const place of own) if (!places.has(place)) places.set(place, engineId);
      return own.every((place) => places.get(place) === engineId);
    });
  }

  renewEngine(engineId: string, ttlMs: number): Promise<boolean> {
    return this.hub.call('renewEngine', () => {
      const engine = this.hub.engines.get(engineId);
      if (engine !== undefined) this.hub.engines.set(engineId, engine, ttlMs);
      return engine !== undefined;
    });
  }

  removeEngine(engineId: string): Promise<void> {
    return this.hub.call('removeEngine', () => {
      this.hub.engines.delete(engineId);
      this.hub.claims.delete(engineId);
    });
  }

  engines(): Promise<readonly EnginePresence[]> {
    return this.hub.call('engines', () => this.hub.engines.values());
  }

  claimNumber(engineId: string, wanted = 0, of?: NameParts): Promise<number> {
    return this.hub.call('claimNumber', () => {
      const { places, claims, engines } = this.hub;
      let own: string | undefined;
      for (const [place, holder] of places) {
        if (holder === engineId) own = isIndex(place) === (of === undefined) ? place : own;
        else if (!engines.has(holder) && !claims.has(holder)) places.delete(place);
      }
      claims.set(engineId, true, CLAIM_TTL_MS);
      if (own !== undefined) return Number(/\d+/.exec(own)?.[0]);
      const placeOf = (number: number): string => `${of?.prefix ?? ''}${number}${of?.suffix ?? ''}`;
      let free = places.has(placeOf(wanted)) ? 0 : wanted;
      while (places.has(placeOf(free))) free += 1;
      places.set(placeOf(free), engineId);
      return free;
    });
  }

  announceApi(apiId: string, ttlMs: number): Promise<void> {
    return this.hub.call('announceApi', () => this.hub.apis.set(apiId, true, ttlMs));
  }

  removeApi(apiId: string): Promise<void> {
    return this.hub.call('removeApi', () => this.hub.apis.delete(apiId));
  }

  aliveApis(apiIds: readonly string[]): Promise<boolean[]> {
    return this.hub.call('aliveApis', () => apiIds.map((id) => this.hub.apis.has(id)));
  }
}

/** An index, not a name. */
function isIndex(place: string): boolean {
  return /^\d+$/.test(place);
}
