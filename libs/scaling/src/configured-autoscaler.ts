import {
  Autoscaler,
  AutoscalerError,
  buildAutoscaler,
  checkStart,
  type Capacities,
  DemandCurve,
  EngineCapacity,
  type Objectives,
  parseAutoscaler,
  parseBounds,
  ROLES,
  type ScaleBounds,
  type TraceColumns,
} from '@baton/autoscaling';
import { type BatonConfig, type ResolvedConfig, UsageError } from '@baton/config';
import { engineSetup } from '@baton/engine-setup';
import { type Micros, RandomStream, secondsToUs } from '@baton/kernel';
import { formatTopology, type Topology } from '@baton/placement';

/** Share of an engine's capacity that the demand curve lets a load use. */
const UTILISATION = 0.8;
const MS_PER_SECOND = 1_000;

/**
 * The bounds of the configured autoscaler. Undefined: there is none.
 *
 * @throws UsageError
 */
export function scaleBounds(config: BatonConfig): ScaleBounds | undefined {
  const { autoscaler, min, max } = config;
  if (autoscaler === undefined) {
    const idle = min === undefined ? (max === undefined ? undefined : 'max') : 'min';
    if (idle === undefined) return undefined;
    throw new UsageError(`${idle} bounds an autoscaler: name one, for example --autoscaler wva.`);
  }
  if (max === undefined) {
    throw new UsageError('autoscaler needs its most engines: write for example --max 8P16D.');
  }
  if (config.changes !== undefined) {
    throw new UsageError('changes and autoscaler both change the cluster: give one of them.');
  }
  if (config.dataParallelSize > 1) {
    throw new UsageError('autoscaler: engines with data_parallel_size above 1 do not scale.');
  }
  return usable(() => parseBounds(min, max));
}

/**
 * The configuration with the fewest engines of its autoscaler as topology, where the user named
 * none.
 *
 * @throws UsageError
 */
export function withStart({
  config,
  origins,
}: Pick<ResolvedConfig, 'config' | 'origins'>): BatonConfig {
  const bounds = scaleBounds(config);
  if (bounds === undefined || origins.topology !== 'default') return config;
  return { ...config, topology: formatTopology(bounds.min) };
}

/** An autoscaler of a configuration, made anew for each run. */
export interface ConfiguredAutoscaler {
  readonly bounds: ScaleBounds;
  readonly intervalUs: Micros;
  readonly create: () => Autoscaler;
}

export interface AutoscalingExtras {
  /** Unset: `goodput_ttft` and `goodput_tpot`. */
  readonly objectives?: Objectives | undefined;
  /** What the future brings. Unset: nothing is known. */
  readonly demand?: DemandCurve | undefined;
}

/**
 * The configured autoscaler, for both clocks. Undefined: there is none.
 *
 * @param start the engines that the cluster begins with
 * @throws UsageError, one sentence
 */
export function configuredAutoscaler(
  config: BatonConfig,
  start: Topology,
  { objectives, demand }: AutoscalingExtras = {},
): ConfiguredAutoscaler | undefined {
  const bounds = scaleBounds(config);
  if (bounds === undefined) return undefined;
  const intervalUs = secondsToUs(config.scaleInterval);
  const aheadUs = intervalUs + secondsToUs(config.startupDuration);
  const capacities = capacitiesOf(config, bounds.max);
  const given = {
    ttftSeconds: objectives?.ttftSeconds ?? config.goodputTtft / MS_PER_SECOND,
    itlSeconds: objectives?.itlSeconds ?? config.goodputTpot / MS_PER_SECOND,
  };
  const create = (): Autoscaler => {
    const policy = buildAutoscaler(parseAutoscaler(config.autoscaler!, given), {
      capacities,
      random: RandomStream.root(config.seed).stream('autoscaler'),
      ...(demand && { future: { demand, aheadUs } }),
    });
    return new Autoscaler({ policy, bounds, metricsAgeUs: secondsToUs(config.scaleMetricsAge) });
  };
  usable(() => checkStart(start, bounds));
  usable(create);
  return { bounds, intervalUs, create };
}

/** Engines that a trace needs over time, by the capacities of this configuration. */
export function demandOf(
  config: BatonConfig,
  trace: TraceColumns,
  { max, itlSeconds }: { max: Topology; itlSeconds: number | undefined },
): DemandCurve {
  return new DemandCurve(trace, {
    windowUs: secondsToUs(config.scaleInterval),
    capacities: capacitiesOf(config, max),
    itlSeconds: itlSeconds ?? config.goodputTpot / MS_PER_SECOND,
    utilisation: UTILISATION,
  });
}

function capacitiesOf(config: BatonConfig, max: Topology): Capacities {
  const some = ROLES.filter((role) => max[role] > 0).map((role) => {
    const { options } = engineSetup(config, role);
    const { stepTime, maxNumBatchedTokens, maxNumSeqs, numBlocks, blockSize } = options;
    const kvTokens = numBlocks * blockSize;
    const capacity = new EngineCapacity({ stepTime, maxNumBatchedTokens, maxNumSeqs, kvTokens });
    return [role, capacity] as const;
  });
  return Object.fromEntries(some);
}

function usable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof AutoscalerError) throw new UsageError(error.message);
    throw error;
  }
}
