import type { ClusterScenario, MembershipChange } from '@baton/cluster';
import { UsageError } from '@baton/config';
import type { EngineRole, ScheduledChange } from '@baton/placement';

/**
 * Engines that ever live in one run, ranks counted singly; the virtual clock gives each a number of
 * its own.
 */
const MOST_ENGINES = 30_000;

export interface PoolsOfChanges {
  readonly poolOf: (role: EngineRole) => number;
  /** Data-parallel ranks of an engine, each an engine of a pool. */
  readonly ranks: number;
}

/**
 * A schedule, as what happens to the pools of a scenario. The ranks of an engine that leaves are
 * those of the least busy engine where ranks step together, else the least busy of the pool,
 * whichever engine they belong to.
 *
 * @throws UsageError when more engines would join than a run can number
 */
export function membershipChanges(
  changes: readonly ScheduledChange[],
  { poolOf, ranks }: PoolsOfChanges,
): MembershipChange[] {
  const total = changes.reduce((sum, { count }) => sum + count * ranks, 0);
  if (total > MOST_ENGINES) {
    throw new UsageError(
      `changes: they concern ${total} engines in all; at most ${MOST_ENGINES} can be.`,
    );
  }
  return changes.flatMap((change) => {
    const { atUs, kind, role } = change;
    const one: MembershipChange =
      kind === 'become'
        ? { atUs, kind, pool: poolOf(role), to: poolOf(change.to) }
        : { atUs, kind, pool: poolOf(role) };
    return Array.from({ length: change.count * ranks }, () => one);
  });
}

/**
 * Most GPUs that the cluster has at any instant; those of an engine that leaves are free from then
 * on.
 */
export function mostGpus({ pools, changes }: ClusterScenario): number {
  const gpusOf = (pool: number): number => pools[pool]?.gpus ?? 0;
  let now = pools.reduce((sum, { count, gpus }) => sum + count * gpus, 0);
  let most = now;
  for (const [i, change] of changes.entries()) {
    if (change.kind !== 'join') now -= gpusOf(change.pool);
    if (change.kind !== 'leave') now += gpusOf(change.kind === 'become' ? change.to : change.pool);
    if (changes[i + 1]?.atUs !== change.atUs) most = Math.max(most, now);
  }
  return most;
}
