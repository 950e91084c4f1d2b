import type { EnginePresence } from '@baton/contract';

export interface PresenceBoard {
  /**
   * Renews this engine's entry for `ttlMs`; the full presence is stored. False when its index is
   * another engine's by now, so that it needs a new one.
   */
  announceEngine(engine: EnginePresence, ttlMs: number): Promise<boolean>;
  removeEngine(engineId: string): Promise<void>;
  engines(): Promise<EnginePresence[]>;
  /**
   * The smallest index that no living engine has, claimed for `engineId` while it keeps announcing
   * itself.
   */
  claimIndex(engineId: string): Promise<number>;
  announceApi(apiId: string, ttlMs: number): Promise<void>;
  removeApi(apiId: string): Promise<void>;
  aliveApis(apiIds: readonly string[]): Promise<boolean[]>;
}
