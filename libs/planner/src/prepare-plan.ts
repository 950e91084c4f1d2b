import {
  type BatonConfig,
  type ConfigKey,
  isScaled,
  type ResolvedConfig,
  UsageError,
  withFrontEnd,
} from '@baton/config';
import { type GivenRates } from './costs/read-gpu-prices';
import { listedRates, ratesOf } from './costs/rates-of';
import { type Candidate, candidatesOf, isAggregated } from './candidates/candidates';
import { matchRates } from './candidates/rate-match';
import { GIVEN_UP_SHARE } from './candidates/find-rate';
import { type PlanQuestion } from './candidates/search-splits';
import { windowsOf } from './candidates/windows';
import { type SloTarget } from './candidates/trial';
import {
  describeWorkload,
  meanRatePerSecond,
  shareWorkload,
  type Workload,
  type WorkloadDescription,
} from '@baton/workload';
import {
  configuredWorkload,
  type LoadedWorkload,
  type ReadingOptions,
  type WorkloadFlags,
} from '@baton/replay';
import { EngineChoices, type GivenSizes, sizesOf } from './engines/engine-choices';
import { type Knob, Knobs } from './engines/knobs';
import { meanDemand } from './engines/mean-demand';
import { splitNamed } from './engines/named-split';
import { clusterOf } from './engines/split-config';
import { assumptionsOf, canAssume } from './search/assumed-scenario';
import type { PlanningContext } from './search/planning-context';

/** The inputs of a plan. */
export interface PlanRequest {
  readonly workload: WorkloadFlags;
  readonly gpus: number;
  readonly target: SloTarget;
  readonly sizes: GivenSizes;
  /** Options to try in every split, with their values. */
  readonly vary: readonly Knob[];
  /** The name of a split whose defeat is explained. */
  readonly explain?: string | undefined;
  /** Undefined: no cost is reported. */
  readonly prices?: GivenRates | undefined;
  /** Number of threads that simulate. */
  readonly threads: number;
}

/** All inputs that a plan depends on. */
export interface PreparedPlan {
  readonly context: PlanningContext;
  /** The configuration before the workload sets its block size: the one that a user starts. */
  readonly requested: BatonConfig;
  readonly loaded: LoadedWorkload;
  /** The given flags, with the rate that this plan adds to a dataset without one. */
  readonly workloadFlags: WorkloadFlags;
  readonly description: WorkloadDescription;
  readonly question: Omit<PlanQuestion, 'mostSimulated'>;
  /** Description of the step times, by role and size. */
  readonly stepTimes: Readonly<Record<string, string>>;
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

const ROLES = ['prefill', 'decode', 'aggregated'] as const;

/**
 * Builds the engines that fit, then reads the workload, which may take long.
 *
 * @throws UsageError, one sentence
 */
export async function preparePlan(
  resolved: ResolvedConfig,
  flags: PlanRequest,
  onProgress: NonNullable<ReadingOptions['onProgress']>,
): Promise<PreparedPlan> {
  const { config: requested, origins } = resolved;
  refuseUnplanned(requested);
  const isSet = (key: ConfigKey): boolean => origins[key] !== 'default';
  const sizes = sizesOf(flags.sizes, requested, isSet);
  const engines = new EngineChoices(requested, sizes, flags.gpus, isSet);
  const candidates = candidatesOf(engines.choices);
  const rates = flags.prices && ratesOf(requested, ROLES, flags.prices);
  if (candidates.length === 0) {
    throw new UsageError(
      `No engines use all ${flags.gpus} GPUs. The model fits engines of ` +
        `${engines.gpuCounts.join(', ')} GPUs. Change --gpus or --tp.`,
    );
  }
  const { vary } = flags;
  const explained =
    flags.explain === undefined
      ? undefined
      : splitNamed(flags.explain, { candidates, config: requested, vary });
  const workloadFlags = withRate(flags.workload);
  const { maxModelLen } = engines;
  const { config, loaded, notes } = await configuredWorkload(resolved, workloadFlags, {
    maxModelLen,
    onProgress,
  });
  refuseUnscalable(loaded.workload);
  const workload = flags.threads === 1 ? loaded.workload : shareWorkload(loaded.workload);
  const description = describeWorkload(workload);
  const knobs = new Knobs<Candidate>({
    config,
    isSet,
    reusableShare: description.reusableShare,
    vary,
    design: {
      settingsOf: ({ settings }) => settings,
      withSettings: (split, settings) => ({ ...split, settings }),
      topologyOf: ({ topology }) => topology,
      enginesOf: (split) => engines.enginesOf(split),
      clusterOf,
    },
  });
  return {
    context: { config: withFrontEnd(config), workload, target: flags.target, rates },
    requested,
    loaded,
    workloadFlags,
    description,
    question: questionOf(flags, {
      config,
      workload,
      description,
      engines,
      candidates,
      knobs,
      explained,
      ownRate: workloadFlags === flags.workload ? description.ratePerSecond : undefined,
    }),
    stepTimes: engines.stepTimes,
    notes: [...notes, ...engines.notes],
  };
}

interface QuestionInputs {
  readonly config: BatonConfig;
  readonly workload: Workload;
  readonly description: WorkloadDescription;
  readonly engines: EngineChoices;
  readonly candidates: readonly Candidate[];
  readonly knobs: Knobs<Candidate>;
  readonly explained: Candidate | undefined;
  readonly ownRate: number | undefined;
}

function questionOf(flags: PlanRequest, inputs: QuestionInputs): PreparedPlan['question'] {
  const { config, workload, description, engines, candidates, knobs, explained, ownRate } = inputs;
  const { tpot = Infinity, itl = Infinity } = flags.target.slo;
  const estimate = (split: Candidate, tpotUs: number): number => {
    const { prefill, aggregated } = split.topology;
    const demand = meanDemand(description, config, isAggregated(split) ? aggregated : prefill);
    return matchRates(split, engines.enginesOf(split), { demand, tpotUs });
  };
  return {
    candidates: candidates.map((candidate) => ({
      candidate,
      estimatedRate: estimate(candidate, Math.min(tpot, itl)),
      idleRate: estimate(candidate, Infinity) * GIVEN_UP_SHARE,
    })),
    estimateOf: (split) => estimate(split, Math.min(tpot, itl)),
    ownRate,
    firstSettings: (split) => knobs.firstSettings(split),
    movesOf: (split) => [...knobs.movesOf(split), ...neighboursOf(split, candidates)],
    withSettings: (split, settings) => knobs.withSettings(split, settings),
    clusterOf,
    assumptions: assumptionsOf(config, {
      workload,
      description,
      ratesOf: (own) => flags.prices && listedRates(own, ROLES, flags.prices),
    }),
    canAssume: (assumption, split) => canAssume(assumption, split, { config, workload }),
    explained,
    target: flags.target,
    requests: description.requests,
    turns: description.requests / (description.requests - description.laterTurns),
    windows: windowsOf(description.requests - description.laterTurns),
  };
}

/** @throws UsageError for options of clusters that a plan does not have */
function refuseUnplanned(requested: BatonConfig): void {
  if (requested.changes !== undefined) {
    throw new UsageError('A plan searches for a fixed topology. Remove the option changes.');
  }
  if (isScaled(requested) || (requested.min ?? requested.max) !== undefined) {
    throw new UsageError('A plan searches for a fixed topology. Remove the option autoscaler.');
  }
  if (requested.dataParallelSize > 1) {
    throw new UsageError(
      'A plan supports only engines of one data-parallel rank. Leave data_parallel_size at 1.',
    );
  }
}

/** The splits with one engine more or fewer of a role and the same sizes and settings. */
function neighboursOf(split: Candidate, candidates: readonly Candidate[]): Candidate[] {
  if (isAggregated(split)) return [];
  const { prefillTp, decodeTp, topology, settings } = split;
  const alike = candidates.filter((one) => {
    return !isAggregated(one) && one.prefillTp === prefillTp && one.decodeTp === decodeTp;
  });
  const at = alike.findIndex((one) => one.topology.prefill === topology.prefill);
  const near = [alike[at - 1], alike[at + 1]].filter((one) => one !== undefined);
  return near.map((one) => ({ ...one, settings }));
}

/** The plan searches for the rate. A dataset needs one only to have arrivals that can be scaled. */
export function withRate(flags: WorkloadFlags): WorkloadFlags {
  const isTimed = flags.requestRate !== undefined || flags.rampUpStartRps !== undefined;
  return flags.dataset === undefined || isTimed ? flags : { ...flags, requestRate: '1' };
}

export function refuseUnscalable(workload: Workload): void {
  if (workload.count === 0)
    throw new UsageError('A plan needs requests, and the workload has none.');
  if (meanRatePerSecond(workload) > 0) return;
  throw new UsageError(
    'A plan searches for the highest rate, and requests that all arrive at one instant have ' +
      'no rate. Add --arrivals poisson.',
  );
}
