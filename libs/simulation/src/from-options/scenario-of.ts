import {
  type ClusterScaling,
  type ClusterScenario,
  type EnginePool,
  enginePool,
} from '../scenario';
import { type RowClasses, rowClasses } from '../flow/row-classes';
import {
  admissionSpec,
  type BatonConfig,
  flowControlSpec,
  placerSpec,
  buildSloClasses,
  startupTimes,
  UsageError,
  checkExtrapolation,
  engineSetup,
  frontEndOf,
} from '@baton/config';
import { STAGES } from '@baton/contract';
import { type Micros, secondsToUs } from '@baton/kernel';
import { type EngineRole, parseTopology, type ScheduledChange } from '@baton/policies';
import type { Workload } from '@baton/workload';
import { countRanks } from './count-ranks';
import { membershipChanges } from './membership-changes';

/** The parts that a virtual run needs beyond the configuration of a cluster. */
export interface ScenarioExtras {
  /** Requests that clients have under way at most; default: no bound. */
  readonly maxConcurrency?: number;
  /** Mean time that a client waits before its next request, exponential; default: none. */
  readonly thinkUs?: Micros;
  /** Default: true. */
  readonly leap?: boolean;
  /** Default: the engines of the start stay. */
  readonly changes?: readonly ScheduledChange[];
  /** Default: nothing but `changes` changes the cluster. */
  readonly scaling?: ClusterScaling | undefined;
}

/**
 * The cluster that `baton up` would start from this configuration, as a scenario for the virtual
 * clock. It has the front end of `frontend`, and none without it.
 *
 * @throws UsageError for what `baton up` would refuse as well; TopologyError for a topology that
 * cannot run
 */
export function scenarioOf(
  config: BatonConfig,
  workload: Workload,
  extras: ScenarioExtras = {},
): ClusterScenario {
  const { changes = [], scaling } = extras;
  const topology = parseTopology(config.topology);
  countRanks(config, topology);
  const ranks = config.dataParallelSize;
  const roles = STAGES.filter((role) => topology[role] > 0 || isEver(role, changes));
  const engines = workload.adapter === undefined ? config : { ...config, enableLora: true };
  const pools = roles.map((role) => poolOf(engines, role, topology[role] * ranks));
  checkLongestPrompt(pools, workload);
  const frontEnd = frontEndOf(config);
  const admission = admissionSpec(config);
  const sloClasses = classesOf(config, workload);
  const flowControl = flowControlSpec(config);
  return {
    pools,
    changes: membershipChanges(changes, { ranks, poolOf: (role) => roles.indexOf(role) }),
    ...(config.warmStart === 'peer' && { fetchesCaches: true }),
    ...(scaling && { scaling }),
    workload,
    placement: placerSpec(config),
    ...(frontEnd === undefined ? {} : { frontEnd }),
    ...(admission && { admission }),
    ...(sloClasses && { sloClasses }),
    ...(flowControl && { flowControl }),
    ...(config.endsBy === 'eos' && { endsByEos: true }),
    kvLeaseUs: secondsToUs(config.kvLeaseDuration),
    maxRuns: config.maxRuns,
    maxWaitingRequests: config.maxWaitingRequests,
    maxConcurrency: extras.maxConcurrency ?? Infinity,
    ...(extras.thinkUs === undefined ? {} : { thinkUs: extras.thinkUs }),
    seed: config.seed,
    leap: extras.leap ?? true,
  };
}

/** @throws UsageError when the workload names a class that is not configured */
function classesOf(config: BatonConfig, workload: Workload): RowClasses | undefined {
  const classes = buildSloClasses(config);
  const [named] = workload.sloClass?.names ?? [];
  if (classes === undefined && named === undefined) return undefined;
  if (classes === undefined) {
    throw new UsageError(`The workload has SLO classes, such as ${named}. Set slo_classes.`);
  }
  const rows = rowClasses(workload, classes);
  if (typeof rows !== 'string') return rows;
  throw new UsageError(
    `The workload has the SLO class '${rows}'; slo_classes has ${classes.names.join(', ')}.`,
  );
}

/** Refuses the longest prompt before the run, instead of in its middle. */
function checkLongestPrompt(pools: readonly EnginePool[], { promptTokens }: Workload): void {
  const longestPrompt = promptTokens.reduce((longest, tokens) => Math.max(longest, tokens), 0);
  if (longestPrompt === 0) return;
  for (const pool of pools) {
    checkExtrapolation(pool, pool.role, { longestPrompt, everyBatch: false });
  }
}

/** True when a role without engines at the start gets some later. */
function isEver(role: EngineRole, changes: readonly ScheduledChange[]): boolean {
  return changes.some((change) => (change.kind === 'become' ? change.to : change.role) === role);
}

/** Equal engines of one role, from the configuration. @param count ranks of them in total */
export function poolOf(config: BatonConfig, role: EngineRole, count: number): EnginePool {
  const setup = engineSetup(config, role);
  const { options, gpus, kvBytesPerToken, link, lockstepRanks } = setup;
  const size = config.dataParallelSize;
  const { transferTimes, transferShape, kvPool } = setup;
  return enginePool({
    role,
    count,
    options,
    gpus,
    kvBytesPerToken,
    link,
    transferShape,
    ...(kvPool && { kvPool }),
    ...(size > 1 && { dataParallel: { size, isLockstep: lockstepRanks !== undefined } }),
    ...(transferTimes && { transferTimes }),
    ...startupTimes(config),
  });
}
