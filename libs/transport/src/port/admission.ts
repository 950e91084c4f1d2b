import type { Stage } from '@baton/contract';

/**
 * Counts the requests that wait for a stage, over all API processes, with atomic decisions. Each
 * API owns a share, which is dropped with the API's presence, so that counts cannot drift.
 */
export interface AdmissionCounters {
  /**
   * Adds `count` to this API's share of `stage` if the sum of all living shares then stays within
   * `limit`.
   */
  tryEnter(apiId: string, stage: Stage, count: number, limit: number): Promise<boolean>;
  /**
   * Changes shares by deltas (negative: left the stage's queue). Resolves to the totals afterwards;
   * undefined while the broker is unavailable.
   */
  shift(
    apiId: string,
    deltas: Readonly<Partial<Record<Stage, number>>>,
  ): Promise<Record<Stage, number> | undefined>;
  totals(): Promise<Record<Stage, number>>;
}
