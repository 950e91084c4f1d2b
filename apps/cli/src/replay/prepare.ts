import type { ClusterScenario } from '@baton/cluster';
import { parseTopology, TopologyError } from '@baton/placement';
import {
  type BatonConfig,
  configKeys,
  fileName,
  optionOf,
  resolveConfig,
  UsageError,
} from '@baton/runtime';
import { poolOf, scenarioOf } from '../scenario/scenario-of';
import { type LoadedWorkload, loadWorkload } from '../workload/load-workload';
import { openProgress } from './progress';
import type { ReplayFlags } from './replay-flags';

/** Everything that a replay depends on. */
export interface Prepared {
  readonly config: BatonConfig;
  readonly loaded: LoadedWorkload;
  readonly scenario: ClusterScenario;
}

/**
 * Resolves the configuration, checks the cluster, and only then reads the workload, which may be long.
 *
 * @throws UsageError, one sentence
 */
export async function prepare(flags: ReplayFlags): Promise<Prepared> {
  const { config } = resolveConfig({
    flags: flags.config,
    env: process.env,
    file: flags.configFile ?? process.env['BATON_CONFIG_FILE'],
  });
  try {
    const loaded = await load(config, flags);
    const { leap, concurrency } = flags;
    const bound = concurrency === undefined ? {} : { maxConcurrency: concurrency };
    const scenario = scenarioOf(config, loaded.workload, { leap, ...bound });
    return { config, loaded, scenario };
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

async function load(config: BatonConfig, { workload }: ReplayFlags): Promise<LoadedWorkload> {
  const { seed, blockSize } = config;
  const maxModelLen = contextOf(config);
  const progress = await openProgress('reading');
  try {
    const onProgress = progress.update.bind(progress);
    return await loadWorkload(workload, { seed, blockSize, maxModelLen, onProgress });
  } finally {
    progress.end();
  }
}

/** The resolved configuration and what else a result depends on, by the names that files and flags have. */
export function resolvedOptions(
  { config, loaded }: Prepared,
  flags: ReplayFlags,
): Record<string, unknown> {
  const { source, workload } = loaded;
  const asked = Object.entries(flags.workload).map(([name, value]) => [fileName(name), value]);
  const shown = configKeys().filter((key) => config[key] !== undefined && !optionOf(key).hidden);
  return {
    ...Object.fromEntries(shown.map((key) => [fileName(key), config[key]])),
    workload: {
      source: source.kind === 'trace' ? source.format : source.name,
      ...Object.fromEntries(asked),
      requests: workload.count,
    },
    ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
  };
}

/** Longest prompt plus output on the engines that generate. */
function contextOf(config: BatonConfig): number {
  const { aggregated } = parseTopology(config.topology);
  return poolOf(config, aggregated > 0 ? 'aggregated' : 'decode', 1).options.maxModelLen;
}
