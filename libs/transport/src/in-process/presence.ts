import type { EnginePresence } from '@baton/contract';
import { CLAIM_TTL_MS } from '../limits';
import type { PresenceBoard } from '../port/presence';
import type { InProcessHub } from './hub';

export class MemoryPresence implements PresenceBoard {
  constructor(private readonly hub: InProcessHub) {}

  announceEngine(engine: EnginePresence, ttlMs: number): Promise<boolean> {
    return this.hub.call('announceEngine', () => {
      const { engines, indexes } = this.hub;
      engines.set(engine.engineId, engine, ttlMs);
      if (!indexes.has(engine.index)) indexes.set(engine.index, engine.engineId);
      return indexes.get(engine.index) === engine.engineId;
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

  claimIndex(engineId: string, wanted = 0): Promise<number> {
    return this.hub.call('claimIndex', () => {
      const { indexes, claims, engines } = this.hub;
      let own: number | undefined;
      for (const [index, holder] of indexes) {
        if (holder === engineId) own = index;
        else if (!engines.has(holder) && !claims.has(holder)) indexes.delete(index);
      }
      claims.set(engineId, true, CLAIM_TTL_MS);
      if (own !== undefined) return own;
      let free = indexes.has(wanted) ? 0 : wanted;
      while (indexes.has(free)) free += 1;
      indexes.set(free, engineId);
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
