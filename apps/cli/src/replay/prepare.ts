import type { RecordedRun } from '@baton/analysis';
import type { ClusterScenario } from '@baton/cluster';
import { parseTopology, TopologyError } from '@baton/placement';
import {
  type BatonConfig,
  configKeys,
  fileName,
  optionOf,
  resolveConfig,
  type ResolvedConfig,
  UsageError,
} from '@baton/runtime';
import { poolOf, scenarioOf } from '../scenario/scenario-of';
import { type LoadedWorkload, loadWorkload } from '../workload/load-workload';
import type { WorkloadFlags } from '../workload/workload-options';
import { openProgress } from './progress';
import { noteOnConfig } from './recorded-config';
import { findRecording, type Recording, readRecordedRun } from './recording';
import type { ReplayFlags } from './replay-flags';

/** Everything that a replay depends on. */
export interface Prepared {
  readonly config: BatonConfig;
  readonly loaded: LoadedWorkload;
  readonly scenario: ClusterScenario;
  /** What was measured of the same requests; undefined: nothing is compared. */
  readonly recorded: RecordedRun | undefined;
  /** Sentences that the user should see. */
  readonly notes: readonly string[];
}

/**
 * Resolves the configuration, checks the cluster, and only then reads the workload, which may be long.
 *
 * @throws UsageError, one sentence
 */
export async function prepare(flags: ReplayFlags): Promise<Prepared> {
  const recording = await findRecording(flags.workload);
  const resolved = resolveConfig({
    flags: flags.config,
    env: process.env,
    file: flags.configFile ?? process.env['BATON_CONFIG_FILE'],
    recorded: recording?.header?.config,
  });
  const asRecorded = recording?.header && noteOnConfig(recording.header, resolved);
  try {
    const maxModelLen = contextOf(resolved.config);
    const { config, loaded, notes } = await withWorkload(resolved, flags.workload, maxModelLen);
    const { leap, concurrency } = flags;
    const bound = concurrency === undefined ? {} : { maxConcurrency: concurrency };
    const scenario = scenarioOf(config, loaded.workload, { leap, ...bound });
    const compared = await recordedRun(flags, recording, loaded);
    return {
      ...{ config, loaded, scenario, recorded: compared.run },
      notes: [...(asRecorded === undefined ? [] : [asRecorded]), ...notes, ...compared.notes],
    };
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

/** Flags that let requests arrive otherwise than they did. */
const RETIMING = [
  ...(['arrivals', 'requestRate', 'rateScale', 'burstiness'] as const),
  ...(['rampUpStrategy', 'rampUpStartRps', 'rampUpEndRps'] as const),
];

/** The run that the replay is to be compared with, if there is one and it still is the same: by itself when the trace is a recording. */
async function recordedRun(
  { compare, workload: given, concurrency }: ReplayFlags,
  recording: Recording | undefined,
  { workload }: LoadedWorkload,
): Promise<{ readonly run: RecordedRun | undefined; readonly notes: readonly string[] }> {
  const isRetimed = concurrency !== undefined || RETIMING.some((flag) => given[flag] !== undefined);
  const isWanted = compare ?? (recording?.header !== undefined && !isRetimed);
  if (!isWanted) {
    const isMissed = compare === undefined && recording?.header !== undefined;
    return { run: undefined, notes: isMissed ? [NOT_COMPARED] : [] };
  }
  const run = recording && (await readRecordedRun(recording, workload));
  if (run === undefined || run.seen.outcome.every((outcome) => outcome === 0)) {
    if (compare === undefined) return { run: undefined, notes: [] };
    throw new UsageError('--compare needs a trace that `baton up --record` wrote.');
  }
  return { run, notes: [] };
}

const NOT_COMPARED =
  'Not compared with what was recorded, for requests arrive otherwise (--compare compares all the same).';

/**
 * The workload that the flags ask for, for engines with a context of `maxModelLen` tokens, the configuration with the KV blocks that it comes in, and what the
 * user should see. A bar shows how far a long file is read.
 */
export async function withWorkload(
  { config: asked, origins, notes }: ResolvedConfig,
  flags: WorkloadFlags,
  maxModelLen: number,
): Promise<Pick<Prepared, 'config' | 'loaded' | 'notes'>> {
  const { seed, blockSize } = asked;
  const mayCoarsen = origins.blockSize === 'default';
  const progress = await openProgress('reading');
  try {
    const onProgress = progress.update.bind(progress);
    const context = { seed, blockSize, maxModelLen, mayCoarsen, onProgress };
    const loaded = await loadWorkload(flags, context);
    const config = { ...asked, blockSize: loaded.workload.contentBlockTokens };
    const own = config.blockSize === blockSize ? [] : [coarseBlocks(config)];
    return { config, loaded, notes: [...notes, ...loaded.notes, ...own] };
  } finally {
    progress.end();
  }
}

function coarseBlocks({ blockSize }: BatonConfig): string {
  return `KV blocks of ${blockSize} tokens, in which the trace names what prompts share; --block-size 16 has vLLM's.`;
}

/** The resolved configuration and what else a result depends on, by the names that files and flags have. */
export function resolvedOptions(
  { config, loaded }: Prepared,
  flags: ReplayFlags,
): Record<string, unknown> {
  return {
    ...shownConfig(config),
    workload: shownWorkload(loaded, flags.workload),
    ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
  };
}

/** Options that are set, by the names that files have. */
export function shownConfig(config: BatonConfig): Record<string, unknown> {
  const shown = configKeys().filter((key) => config[key] !== undefined && !optionOf(key).hidden);
  return Object.fromEntries(shown.map((key) => [fileName(key), config[key]]));
}

/** The workload as it was asked for, and how many requests it has. */
export function shownWorkload(
  { source, workload }: LoadedWorkload,
  flags: WorkloadFlags,
): Record<string, unknown> {
  const asked = Object.entries(flags).map(([name, value]) => [fileName(name), value]);
  return {
    source: source.kind === 'trace' ? source.format : source.name,
    ...Object.fromEntries(asked),
    requests: workload.count,
  };
}

/** Longest prompt plus output on the engines that generate. */
function contextOf(config: BatonConfig): number {
  const { aggregated } = parseTopology(config.topology);
  return poolOf(config, aggregated > 0 ? 'aggregated' : 'decode', 1).options.maxModelLen;
}
