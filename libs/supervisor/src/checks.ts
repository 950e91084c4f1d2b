import {
  type BatonConfig,
  placerSpec,
  UsageError,
  checkExtrapolation,
  engineSetup,
} from '@baton/config';
import { checkLlamacpp, checkUpstreams, executorOf } from '@baton/engine-host';
import { parseTopology, type ScheduledChange, TopologyError } from '@baton/policies';
import { type StageCounts, STAGES_OF_WORKERS } from './cluster-plan';
import type { ProcessSpec } from './supervised-process';

/**
 * A worker builds its engines before it answers the broker: 100 on each of two
 * cores take 12 s, 500 longer than the broker waits. In one process nothing waits.
 */
const MOST_ENGINES = 150;

/**
 * The engines of the configured topology.
 *
 * @throws UsageError, one sentence with an example
 */
export function enginesOf(config: BatonConfig): StageCounts {
  try {
    return parseTopology(config.topology);
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * Checks names and numbers: that model, GPUs and link are known, that the model fits, that step
 * times are available, that placement policies load.
 *
 * @throws UsageError, one sentence
 */
export function checkEngines(config: BatonConfig, engines: StageCounts): void {
  placerSpec(config);
  if (config.kvEventsEndpoint !== undefined) refuseWarmStart(config, 'kv_events_endpoint');
  if (engines.prefill > 0 && engines.decode > 0) checkPair(config);
  for (const stage of STAGES_OF_WORKERS) {
    if (engines[stage] === 0) continue;
    const executor = executorOf(config, stage);
    if (executor !== 'simulate') refuseWarmStart(config, `executor ${executor}`);
    if (executor === 'vllm') checkUpstreams(config, stage, engines[stage]);
    else if (executor === 'llamacpp') checkLlamacpp(config);
    else checkExtrapolation(engineSetup(config, stage), stage, { everyBatch: true });
  }
}

/** The caches of servers are their own, and blocks of a peer come without tokens. */
function refuseWarmStart({ warmStart }: BatonConfig, beside: string): void {
  if (warmStart === undefined) return;
  throw new UsageError(`warm_start is not possible with ${beside}. Remove one of them.`);
}

/** Servers of different kinds cannot read each other's KV. */
function checkPair(config: BatonConfig): void {
  const [prefill, decode] = [executorOf(config, 'prefill'), executorOf(config, 'decode')];
  if (prefill === decode || prefill === 'simulate' || decode === 'simulate') return;
  throw new UsageError(
    `executor_for: prefill=${prefill} cannot hand over to decode=${decode}. Set the same ` +
      'executor for both, or simulate for one of them.',
  );
}

/** Adds one engine of each role of the scheduled changes. */
export function withScheduledChanges(
  engines: StageCounts,
  changes: readonly ScheduledChange[],
): StageCounts {
  const counts = { ...engines };
  for (const change of changes) {
    if (change.kind === 'join') counts[change.role] += 1;
    else if (change.kind === 'become') counts[change.to] += 1;
  }
  return counts;
}

/**
 * Checks that every worker can announce its engines to a broker in time.
 *
 * @throws UsageError with what such a size needs
 */
export function checkEngineShare(specs: readonly Pick<ProcessSpec, 'config'>[]): void {
  const workers = specs.filter(({ config }) => config.role !== 'api');
  const counts = workers.map(({ config }) => config.enginesPerProcess ?? 1);
  const most = Math.max(0, ...counts);
  if (most <= MOST_ENGINES) return;
  const all = counts.reduce((sum, count) => sum + count, 0);
  throw new UsageError(
    `This machine would run ${most} of the ${all} engines in one worker, and a worker with a ` +
      `broker can have ${MOST_ENGINES}. Add --broker in-process, which runs all of them in one ` +
      `process, or use a machine with ${Math.ceil(all / MOST_ENGINES)} cores or more.`,
  );
}

/** @throws UsageError when one process has all roles, but several API processes are configured */
export function checkApiProcesses({ apiProcesses }: Pick<BatonConfig, 'apiProcesses'>): void {
  if (apiProcesses === '1' || apiProcesses === 'auto') return;
  throw new UsageError(
    `--api-processes ${apiProcesses} needs a Redis server that the processes share. Install ` +
      'redis-server or add --redis URL.',
  );
}
