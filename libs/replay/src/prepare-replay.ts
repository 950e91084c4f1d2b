import type { RecordedRun, ScalingOptions, Slo } from '@baton/analysis';
import type { ClusterScenario } from '@baton/cluster';
import {
  type BatonConfig,
  isScaled,
  resolveConfig,
  type ResolvedConfig,
  shownConfig,
  UsageError,
} from '@baton/config';
import { withFrontEnd } from '@baton/engine-setup';
import { type Micros, usToMs } from '@baton/kernel';
import { parseTopology, TopologyError } from '@baton/placement';
import { withStart } from '@baton/scaling';
import { poolOf, scenarioOf } from '@baton/scenario';
import { configuredChanges } from '@baton/worker';
import {
  configuredWorkload,
  type LoadedWorkload,
  type ReadingOptions,
  RETIMING,
  shownWorkload,
  type WorkloadFlags,
} from '@baton/workload-source';
import { scaledReplay } from './scaled-replay';
import { noteOnConfig } from './recorded-config';
import { findRecording, readRecorded, type Recording } from './recording';
import { noteOnCaches, readCaches, type SavedCaches, withCaches } from './saved-caches';

/** What is asked of a replay. */
export interface ReplayRequest {
  /** Options of the configuration. */
  readonly config: Readonly<Record<string, string | boolean>>;
  /** A YAML file with options. */
  readonly configFile: string | undefined;
  readonly workload: WorkloadFlags;
  /** Requests that clients have under way at most; undefined = no bound. */
  readonly concurrency: number | undefined;
  /** Mean time that each of them waits before its next request; undefined = none. */
  readonly thinkUs: Micros | undefined;
  readonly leap: boolean;
  /** Objectives of each request, which an autoscaler can go by. */
  readonly slo: Slo | undefined;
  /** Whether the run is laid beside the recorded one; undefined: where there is one. */
  readonly compare: boolean | undefined;
  /**
   * Whether requests go to the engines that they had when they were recorded (`--placement
   * recorded`).
   */
  readonly asPlaced: boolean;
  /** File with the prefix caches that engines begin with. Undefined: they are empty. */
  readonly warmStart?: string | undefined;
}

/** Everything that a replay depends on. */
export interface PreparedReplay {
  readonly config: BatonConfig;
  readonly loaded: LoadedWorkload;
  readonly scenario: ClusterScenario;
  /** What was measured of the same requests; undefined: nothing is compared. */
  readonly recorded: RecordedRun | undefined;
  /** What an autoscaler is measured by; undefined: there is none. */
  readonly scaling: ScalingOptions | undefined;
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Resolves the configuration, checks the cluster, and only then reads the workload, which may be
 * long.
 *
 * @throws UsageError, one sentence
 */
export async function prepareReplay(
  flags: ReplayRequest,
  env: NodeJS.ProcessEnv,
  onProgress: NonNullable<ReadingOptions['onProgress']>,
): Promise<PreparedReplay> {
  const saved = flags.warmStart === undefined ? undefined : readCaches(flags.warmStart);
  const recording = await findRecording(flags.workload);
  const resolved = resolvedFor(flags, recording, env);
  const asRecorded = recording?.header && noteOnConfig(recording.header, resolved);
  try {
    const maxModelLen = contextOf(resolved.config);
    const changes = configuredChanges(resolved.config);
    if (flags.asPlaced && (changes.length > 0 || isScaled(resolved.config))) {
      throw new UsageError(
        '--placement recorded needs engines that stay: leave changes and autoscaler out.',
      );
    }
    const { warmStart } = flags.config;
    if (warmStart !== undefined && changes.length === 0 && !isScaled(resolved.config)) {
      throw new UsageError(
        `--warm-start ${warmStart} is for engines that join: give --changes or --autoscaler.`,
      );
    }
    const read = await configuredWorkload(resolved, flags.workload, {
      ...{ maxModelLen, onProgress },
    });
    const { leap, concurrency, thinkUs } = flags;
    const bound = {
      ...(concurrency === undefined ? {} : { maxConcurrency: concurrency }),
      ...(thinkUs === undefined ? {} : { thinkUs }),
    };
    const { loaded, notes } = read;
    const scaled = scaledReplay(read.config, loaded.workload, flags.slo);
    const begin = resolved.origins.topology === 'default' ? scaled?.begin : undefined;
    const config = begin === undefined ? read.config : { ...read.config, topology: begin };
    const use = await useRecording(flags, recording, { config, loaded });
    const { scaling } = scaled ?? {};
    const scenario = scenarioOf(config, loaded.workload, { leap, changes, scaling, ...bound });
    const warm = startOf(scenario, saved, { replayed: { config, loaded }, flags });
    return {
      ...{ config, loaded, recorded: use.run, scaling: scaled?.measures },
      scenario: { ...warm.scenario, ...use.scenario },
      notes: [
        ...(asRecorded === undefined ? [] : [asRecorded]),
        ...[...notes, ...use.notes, ...warm.notes],
      ],
    };
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * A recording of simulated engines has the latency of Baton's own API, which is no server of vLLM;
 * only the option frontend adds to it.
 */
function resolvedFor(
  { config: flags, configFile, compare, asPlaced }: ReplayRequest,
  recording: Recording | undefined,
  env: NodeJS.ProcessEnv,
): ResolvedConfig {
  const recorded = recording?.header?.config;
  const isRecording = recorded !== undefined || compare === true || asPlaced;
  const isSimulated = isRecording && (recorded?.['executor'] ?? 'simulate') === 'simulate';
  const resolved = resolveConfig({
    ...{ flags, env, file: configFile ?? env['BATON_CONFIG_FILE'] },
    recorded: isSimulated ? { ...recorded, frontend: 'none' } : recorded,
  });
  return { ...resolved, config: withFrontEnd(withStart(resolved)) };
}

/** The recording's facts about the requests, as far as they are used. */
interface Use {
  readonly run?: RecordedRun;
  readonly scenario: Pick<ClusterScenario, 'recordedPlacement'>;
  readonly notes: readonly string[];
}

const NOT_COMPARED =
  'Not compared with what was recorded, for requests arrive otherwise (--compare compares ' +
  'all the same).';

/**
 * Reads what was measured if the run is to be compared with it, as by itself that of a recording
 * is, or placed as it was.
 */
async function useRecording(
  flags: ReplayRequest,
  recording: Recording | undefined,
  { config, loaded }: Pick<PreparedReplay, 'config' | 'loaded'>,
): Promise<Use> {
  const { compare, asPlaced, concurrency, workload: given } = flags;
  const isRecording = recording?.header !== undefined;
  const isRetimed = concurrency !== undefined || RETIMING.some((flag) => given[flag] !== undefined);
  const isCompared = compare ?? (isRecording && !isRetimed);
  const notes = compare === undefined && isRecording && isRetimed ? [NOT_COMPARED] : [];
  if (!isCompared && !asPlaced) return { scenario: {}, notes };
  const recorded = recording && (await readRecorded(recording, loaded.workload));
  if (recorded === undefined || recorded.requests === 0) {
    if (compare !== true && !asPlaced) return { scenario: {}, notes };
    const flag = asPlaced ? '--placement recorded' : '--compare';
    throw new UsageError(`${flag} needs a trace that \`baton up --record\` wrote.`);
  }
  const placement = asPlaced ? recorded.places.on(parseTopology(config.topology)) : undefined;
  return {
    ...(isCompared ? { run: recorded.run } : {}),
    scenario: placement === undefined ? {} : { recordedPlacement: placement },
    notes,
  };
}

/** The scenario at its start: with the caches that were saved, if any are asked for. */
function startOf(
  scenario: ClusterScenario,
  saved: SavedCaches | undefined,
  {
    replayed,
    flags,
  }: { replayed: Pick<PreparedReplay, 'config' | 'loaded'>; flags: ReplayRequest },
): Pick<PreparedReplay, 'scenario' | 'notes'> {
  if (saved === undefined) return { scenario, notes: [] };
  const { workload, warmStart: path = '' } = flags;
  return {
    scenario: withCaches(scenario, saved, { replayed, flags: workload, path }),
    notes: noteOnCaches(saved, replayed),
  };
}

/**
 * The resolved configuration and what else a result depends on, by the names that files and flags
 * have.
 */
export function resolvedOptions(
  { config, loaded }: PreparedReplay,
  flags: ReplayRequest,
): Record<string, unknown> {
  return {
    ...shownConfig(config),
    ...(flags.asPlaced ? { placement: 'recorded' } : {}),
    workload: shownWorkload(loaded, flags.workload),
    ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
    ...(flags.thinkUs === undefined ? {} : { think_time_ms: usToMs(flags.thinkUs) }),
    ...(flags.warmStart === undefined ? {} : { warm_start: flags.warmStart }),
  };
}

/** Longest prompt plus output on the engines that generate. */
function contextOf(config: BatonConfig): number {
  const { aggregated } = parseTopology(config.topology);
  return poolOf(config, aggregated > 0 ? 'aggregated' : 'decode', 1).options.maxModelLen;
}
