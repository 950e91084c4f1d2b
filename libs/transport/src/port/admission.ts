import type { Stage } from '@baton/contract';

/**
 * How many requests wait for a stage, over all API processes, as one atomic decision. Each API owns
 * a share, so a dead API's share vanishes with its presence and counts cannot drift.
 */
export interface AdmissionCounters {
  /**
   * Adds `count` to this API's share of `stage` if the sum of all living shares then stays within
   * `limit`.
   */
  tryEnter(apiId: string, stage: Stage, count: number, limit: number): Promise<boolean>;
  /**
   * Moves shares by deltas (negative: left the stage's queue). Resolves to the totals after it;
   * undefined while the broker is away.
   */
  shift(
    apiId: string,
    deltas: Readonly<Partial<Record<Stage, number>>>,
  ): Promise<Record<Stage, number> | undefined>;
  totals(): Promise<Record<Stage, number>>;
}
