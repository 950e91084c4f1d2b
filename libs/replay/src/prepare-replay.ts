import type { RecordedRun, ScalingOptions, Slo } from '@baton/analysis';
import { type ClusterScenario, poolOf, scenarioOf, type ScenarioExtras } from '@baton/simulation';
import {
  type BatonConfig,
  configuredChanges,
  isScaled,
  resolveConfig,
  type ResolvedConfig,
  shownConfig,
  UsageError,
  withFrontEnd,
  withStart,
} from '@baton/config';
import { type Micros, usToMs } from '@baton/kernel';
import { parseTopology, TopologyError } from '@baton/policies';
import { configuredWorkload, type ReadingOptions } from './load/configured-workload';
import { type LoadedWorkload, shownWorkload } from './load/load-workload';
import { RETIMING } from './load/arrival-flags';
import { type WorkloadFlags } from './load/workload-flags';
import { scaledReplay } from './scaled-replay';
import { noteOnConfig } from './recorded-config';
import { findRecording, readRecorded, type Recording } from './recording';
import { noteOnCaches, readCaches, type SavedCaches, withCaches } from './saved-caches';

/** The inputs of a replay. */
export interface ReplayRequest {
  /** Options of the configuration. */
  readonly config: Readonly<Record<string, string | boolean>>;
  /** A YAML file with options. */
  readonly configFile: string | undefined;
  readonly workload: WorkloadFlags;
  /** Most requests that clients have under way. Undefined: no limit. */
  readonly concurrency: number | undefined;
  /**
   * Mean pause of each client before its next request, in µs. Undefined: the next request follows
   * at once.
   */
  readonly thinkUs: Micros | undefined;
  readonly leap: boolean;
  /** Latency targets of each request, which an autoscaler can use. */
  readonly slo: Slo | undefined;
  /** Whether the run is compared with the recorded one. Undefined: if there is one. */
  readonly compare: boolean | undefined;
  /**
   * Whether requests go to the engines on which they ran when they were recorded (`--placement
   * recorded`).
   */
  readonly asPlaced: boolean;
  /** File with the prefix caches at the start. Undefined: caches start empty. */
  readonly warmStart?: string | undefined;
  /** Whether another process writes to the trace: its last line may be incomplete. */
  readonly isGrowing?: boolean;
}

/** All inputs of a prepared replay. */
export interface PreparedReplay {
  readonly config: BatonConfig;
  readonly loaded: LoadedWorkload;
  readonly scenario: ClusterScenario;
  /** The measurements of the same requests. Undefined: no comparison. */
  readonly recorded: RecordedRun | undefined;
  /** The measures of an autoscaler. Undefined: there is none. */
  readonly scaling: ScalingOptions | undefined;
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
  /**
   * The same workload and start under another configuration of the same cluster.
   *
   * @throws UsageError
   */
  readonly under: (config: BatonConfig) => PreparedReplay;
}

/**
 * Resolves the configuration and checks the cluster before it reads the workload, which may be
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
  const recording = await findRecording(flags.workload, flags.isGrowing === true);
  const resolved = resolvedFor(flags, recording, env);
  const asRecorded = recording?.header && noteOnConfig(recording.header, resolved);
  try {
    const maxModelLen = contextOf(resolved.config);
    const changes = configuredChanges(resolved.config);
    if (flags.asPlaced && (changes.length > 0 || isScaled(resolved.config))) {
      throw new UsageError(
        '--placement recorded needs a fixed topology. Remove --changes and --autoscaler.',
      );
    }
    const { warmStart } = flags.config;
    if (warmStart !== undefined && changes.length === 0 && !isScaled(resolved.config)) {
      throw new UsageError(
        `--warm-start ${warmStart} is for engines that join. Add --changes or --autoscaler.`,
      );
    }
    const read = await configuredWorkload(resolved, flags.workload, {
      maxModelLen,
      onProgress,
      isGrowing: flags.isGrowing === true,
    });
    const { loaded, notes } = read;
    const isFree = resolved.origins.topology === 'default';
    const basis = { flags, saved, loaded, changes };
    const first = runOf(read.config, { ...basis, isFree });
    const use = await useRecording(flags, recording, { config: first.config, loaded });
    const prepared = (run: Run): PreparedReplay => ({
      config: run.config,
      loaded,
      recorded: use.run,
      scaling: run.scaling,
      scenario: { ...run.scenario, ...use.scenario },
      notes: [
        ...(asRecorded === undefined ? [] : [asRecorded]),
        ...[...notes, ...use.notes, ...run.notes],
      ],
      under: (other) => prepared(runOf(other, { ...basis, isFree: false })),
    });
    return prepared(first);
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

/** The parts of a replay that a configuration does not change. */
interface Basis extends Pick<PreparedReplay, 'loaded'> {
  readonly flags: ReplayRequest;
  readonly saved: SavedCaches | undefined;
  readonly changes: NonNullable<ScenarioExtras['changes']>;
  /** Whether the autoscaler may choose the engines of the start. */
  readonly isFree: boolean;
}

type Run = Pick<PreparedReplay, 'config' | 'scenario' | 'scaling' | 'notes'>;

function runOf(given: BatonConfig, { flags, saved, loaded, changes, isFree }: Basis): Run {
  const { leap, concurrency, thinkUs } = flags;
  const scaled = scaledReplay(given, loaded.workload, flags.slo);
  const begin = isFree ? scaled?.begin : undefined;
  const config = begin === undefined ? given : { ...given, topology: begin };
  const scenario = scenarioOf(config, loaded.workload, {
    leap,
    changes,
    scaling: scaled?.scaling,
    ...(concurrency === undefined ? {} : { maxConcurrency: concurrency }),
    ...(thinkUs === undefined ? {} : { thinkUs }),
  });
  const warm = startOf(scenario, saved, { replayed: { config, loaded }, flags });
  return { config, scaling: scaled?.measures, ...warm };
}

/**
 * The configuration for a replay. A recording of simulated engines includes the latency of Baton's
 * own API and no server of vLLM; only the option frontend adds to it.
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
    flags,
    env,
    file: configFile ?? env['BATON_CONFIG_FILE'],
    recorded: isSimulated ? { ...recorded, frontend: 'none' } : recorded,
  });
  return { ...resolved, config: withFrontEnd(withStart(resolved)) };
}

/** The used parts of the recording's facts about requests. */
interface Use {
  readonly run?: RecordedRun;
  readonly scenario: Pick<ClusterScenario, 'recordedPlacement'>;
  readonly notes: readonly string[];
}

const NOT_COMPARED =
  'The run is not compared with the recording, because requests arrive at other times ' +
  '(--compare compares anyway).';

/**
 * Reads the measurements of a recording when the run is compared with it (the default for a
 * recording) or uses its placement.
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
    if ((compare !== true && !asPlaced) || flags.isGrowing) return { scenario: {}, notes };
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

/** The scenario at its start, with saved caches where requested. */
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

/** The resolved configuration and the other inputs of a result, by the names in files and flags. */
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

/** Most tokens (prompt plus output) of one request on the engines that generate. */
function contextOf(config: BatonConfig): number {
  const { aggregated } = parseTopology(config.topology);
  return poolOf(config, aggregated > 0 ? 'aggregated' : 'decode', 1).options.maxModelLen;
}
