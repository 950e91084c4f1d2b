import type { ClusterScenario, EnginePool, MembershipChange } from '@baton/cluster';
import { msToUs, secondsToUs } from '@baton/kernel';
import { parseTopology, type EngineRole } from '@baton/placement';
import { type BatonConfig, checkExtrapolation, engineSetup, placerSpec } from '@baton/runtime';
import type { Workload } from '@baton/workload';

/** What a virtual run needs beyond the configuration of a cluster. */
export interface ScenarioExtras {
  /** Requests that clients have under way at most; default: no bound. */
  readonly maxConcurrency?: number;
  /** Default: true. */
  readonly leap?: boolean;
  readonly changes?: readonly MembershipChange[];
}

/**
 * The cluster that `baton up` would start from this configuration, as a scenario for the virtual clock.
 *
 * @throws UsageError for what `baton up` would refuse as well; TopologyError for a topology that cannot run
 */
export function scenarioOf(
  config: BatonConfig,
  workload: Workload,
  extras: ScenarioExtras = {},
): ClusterScenario {
  const { prefill, decode, aggregated } = parseTopology(config.topology);
  const roles = [
    ['prefill', prefill],
    ['decode', decode],
    ['aggregated', aggregated],
  ] as const;
  const pools = roles
    .filter(([, count]) => count > 0)
    .map(([role, count]) => poolOf(config, role, count));
  checkLongestPrompt(pools, workload);
  return {
    pools,
    changes: extras.changes ?? [],
    workload,
    placement: placerSpec(config),
    admissionSloTtftUs: msToUs(config.admissionSloTtft ?? Infinity),
    kvLeaseUs: secondsToUs(config.kvLeaseDuration),
    maxRuns: config.maxRuns,
    maxWaitingRequests: config.maxWaitingRequests,
    maxConcurrency: extras.maxConcurrency ?? Infinity,
    seed: config.seed,
    leap: extras.leap ?? true,
  };
}

/** Refuses ahead of the run what its longest prompt would be refused for in the middle. */
function checkLongestPrompt(pools: readonly EnginePool[], { promptTokens }: Workload): void {
  const longestPrompt = promptTokens.reduce((longest, tokens) => Math.max(longest, tokens), 0);
  if (longestPrompt === 0) return;
  for (const pool of pools) {
    checkExtrapolation(pool, pool.role, { longestPrompt, everyBatch: false });
  }
}

/** Equal engines of one role, as the configuration has them. */
export function poolOf(config: BatonConfig, role: EngineRole, count: number): EnginePool {
  const { options, tensorParallelSize, kvBytesPerToken, link } = engineSetup(config, role);
  return {
    ...{ role, count, options, kvBytesPerToken, link },
    gpus: tensorParallelSize,
    startupUs: secondsToUs(config.startupDuration),
  };
}
