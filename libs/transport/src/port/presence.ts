import type { EnginePresence } from '@baton/contract';

export interface PresenceBoard {
  /**
   * Stores the engine's presence and renews its entry for `ttlMs`. False when another engine has
   * its index by now, so that it needs a new one.
   */
  announceEngine(engine: EnginePresence, ttlMs: number): Promise<boolean>;
  /** Renews the entry as it is. False when it is gone, so that it must be announced again. */
  renewEngine(engineId: string, ttlMs: number): Promise<boolean>;
  removeEngine(engineId: string): Promise<void>;
  engines(): Promise<readonly EnginePresence[]>;
  /**
   * Claims an index for `engineId` for as long as that engine announces itself: its own, else
   * `wanted` if that is free, else the smallest free one.
   */
  claimIndex(engineId: string, wanted?: number): Promise<number>;
  announceApi(apiId: string, ttlMs: number): Promise<void>;
  removeApi(apiId: string): Promise<void>;
  aliveApis(apiIds: readonly string[]): Promise<boolean[]>;
}
