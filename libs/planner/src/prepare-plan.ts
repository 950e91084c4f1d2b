import type { Slo } from '@baton/analysis';
import {
  type BatonConfig,
  type ConfigKey,
  isScaled,
  type ResolvedConfig,
  UsageError,
  withFrontEnd,
} from '@baton/config';
import { type GivenRates } from './costs/read-gpu-prices';
import { ratesOf } from './costs/rates-of';
import { type Candidate, candidatesOf, isAggregated } from './candidates/candidates';
import { type Demand, type Engines, matchRates } from './candidates/rate-match';
import { GIVEN_UP_SHARE } from './candidates/find-rate';
import { type PlanCandidate } from './candidates/search-splits';
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
import { meanDemand } from './engines/mean-demand';
import type { PlanningContext } from './search/planning-context';

/** The inputs of a plan. */
export interface PlanRequest {
  readonly workload: WorkloadFlags;
  readonly gpus: number;
  readonly target: SloTarget;
  readonly sizes: GivenSizes;
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
  readonly candidates: readonly PlanCandidate[];
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
  const isSet = (key: ConfigKey): boolean => origins[key] !== 'default';
  const engines = new EngineChoices(requested, sizesOf(flags.sizes, requested, isSet), flags.gpus);
  const candidates = candidatesOf(engines.choices);
  const rates = flags.prices && ratesOf(requested, ROLES, flags.prices);
  if (candidates.length === 0) {
    throw new UsageError(
      `No engines use all ${flags.gpus} GPUs. The model fits engines of ` +
        `${engines.gpuCounts.join(', ')} GPUs. Change --gpus or --tp.`,
    );
  }
  const workloadFlags = withRate(flags.workload);
  const { maxModelLen } = engines;
  const { config, loaded, notes } = await configuredWorkload(resolved, workloadFlags, {
    maxModelLen,
    onProgress,
  });
  refuseUnscalable(loaded.workload);
  const workload = flags.threads === 1 ? loaded.workload : shareWorkload(loaded.workload);
  const description = describeWorkload(workload);
  return {
    context: { config: withFrontEnd(config), workload, target: flags.target, rates },
    requested,
    loaded,
    workloadFlags,
    description,
    candidates: candidates.map((candidate) => {
      const { prefill, aggregated } = candidate.topology;
      const computing = isAggregated(candidate) ? aggregated : prefill;
      const demand = meanDemand(description, config, computing);
      return estimated(candidate, engines.enginesOf(candidate), { demand, slo: flags.target.slo });
    }),
    stepTimes: engines.stepTimes,
    notes: [...notes, ...engines.notes],
  };
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

function estimated(
  candidate: Candidate,
  engines: Engines,
  { demand, slo }: { readonly demand: Demand; readonly slo: Slo },
): PlanCandidate {
  const { tpot = Infinity, itl = Infinity } = slo;
  const rateWithin = (tpotUs: number): number => matchRates(candidate, engines, { demand, tpotUs });
  return {
    candidate,
    estimatedRate: rateWithin(Math.min(tpot, itl)),
    idleRate: rateWithin(Infinity) * GIVEN_UP_SHARE,
  };
}
