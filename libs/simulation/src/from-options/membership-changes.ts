import type { ClusterScenario, MembershipChange } from '../scenario';
import { UsageError } from '@baton/config';
import type { EngineRole, ScheduledChange } from '@baton/policies';

/**
 * Maximum number of ranks in one run, over its whole time. The virtual clock gives each its own
 * number.
 */
const MOST_ENGINES = 30_000;

export interface PoolsOfChanges {
  readonly poolOf: (role: EngineRole) => number;
  /** Data-parallel ranks of an engine. */
  readonly ranks: number;
}

/**
 * A schedule as changes of the pools of a scenario, one for each engine with all its ranks.
 *
 * @throws UsageError when more engines would join than the limit of a run
 */
export function membershipChanges(
  changes: readonly ScheduledChange[],
  { poolOf, ranks }: PoolsOfChanges,
): MembershipChange[] {
  const total = changes.reduce((sum, { count }) => sum + count * ranks, 0);
  if (total > MOST_ENGINES) {
    throw new UsageError(
      `changes: they make ${total} engines in total; the limit is ${MOST_ENGINES}.`,
    );
  }
  return changes.flatMap((change) => {
    const { atUs, kind, role } = change;
    const one: MembershipChange =
      kind === 'become'
        ? { atUs, kind, pool: poolOf(role), to: poolOf(change.to) }
        : { atUs, kind, pool: poolOf(role) };
    return Array.from({ length: change.count }, () => one);
  });
}

/**
 * Largest number of GPUs of the cluster at any instant. Those of a leaving engine are free from
 * that instant on.
 */
export function mostGpus({ pools, changes }: ClusterScenario): number {
  const gpusOf = (index: number): number => {
    const pool = pools[index];
    return pool === undefined ? 0 : pool.gpus * (pool.dataParallel?.size ?? 1);
  };
  let now = pools.reduce((sum, { count, gpus }) => sum + count * gpus, 0);
  let most = now;
  for (const [i, change] of changes.entries()) {
    if (change.kind !== 'join') now -= gpusOf(change.pool);
    if (change.kind !== 'leave') now += gpusOf(change.kind === 'become' ? change.to : change.pool);
    if (changes[i + 1]?.atUs !== change.atUs) most = Math.max(most, now);
  }
  return most;
}
