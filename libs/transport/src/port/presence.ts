import type { EnginePresence } from '@baton/contract';
import type { NameParts } from '@baton/kernel';

export interface PresenceBoard {
  /**
   * Stores the engine's presence and renews its entry for `ttlMs`. False when another engine has
   * its index or its name by now, so that it needs new ones.
   */
  announceEngine(engine: EnginePresence, ttlMs: number): Promise<boolean>;
  /** Renews the entry as it is. False when it is gone, so that it must be announced again. */
  renewEngine(engineId: string, ttlMs: number): Promise<boolean>;
  removeEngine(engineId: string): Promise<void>;
  engines(): Promise<readonly EnginePresence[]>;
  /**
   * Claims a number for `engineId` for as long as that engine announces itself: its own, else
   * `wanted` if that is free, else the smallest free one.
   *
   * @param of  the names that the number completes; unset: the indexes
   */
  claimNumber(engineId: string, wanted?: number, of?: NameParts): Promise<number>;
  announceApi(apiId: string, ttlMs: number): Promise<void>;
  removeApi(apiId: string): Promise<void>;
  aliveApis(apiIds: readonly string[]): Promise<boolean[]>;
}
