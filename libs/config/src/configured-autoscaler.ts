import { basename } from 'node:path';
import { type Micros, RandomStream, secondsToUs, usToSeconds } from '@baton/kernel';
import {
  Autoscaler,
  AutoscalerError,
  type AutoscalerSpec,
  buildAutoscaler,
  checkStart,
  type Capacities,
  demandCurve,
  EngineCapacity,
  foresight,
  type ForesightOptions,
  KEEP,
  MOST_DELAY_INTERVALS,
  type Objectives,
  OwnScaler,
  type OwnScalePolicy,
  parseAutoscaler,
  parseBounds,
  ROLES,
  type ScaleBounds,
  type ScalePolicy,
  type TraceColumns,
  type WindowCounts,
  writtenInterval,
  formatTopology,
  type OwnSpec,
  type PolicyWatch,
  STRICT,
  type Topology,
} from '@baton/policies';
import type { BatonConfig } from './config';
import { engineSetup } from './engines/engine-factory';
import { ownPolicy } from './own-policy-file';
import type { ResolvedConfig } from './resolve-config';
import { startupSeconds } from './startup';
import { isScaled } from './tables/autoscaling';
import { UsageError } from './usage-error';

/** Objectives of requests, µs. */
interface ObjectivesUs {
  readonly ttft?: Micros | undefined;
  readonly tpot?: Micros | undefined;
  readonly itl?: Micros | undefined;
}

/** Share of an engine's capacity that the demand curve assigns to a load. */
const UTILISATION = 0.8;
const MS_PER_SECOND = 1_000;

/**
 * The bounds of the configured autoscaler. Undefined: there is none.
 *
 * @throws UsageError
 */
export function scaleBounds(config: BatonConfig): ScaleBounds | undefined {
  const { min, max } = config;
  if (!isScaled(config)) {
    const idle = min === undefined ? (max === undefined ? undefined : 'max') : 'min';
    if (idle === undefined) return undefined;
    throw new UsageError(`${idle} needs an autoscaler, for example --autoscaler wva.`);
  }
  if (max === undefined) {
    throw new UsageError('autoscaler needs a maximum of engines, for example --max 8P16D.');
  }
  if (config.changes !== undefined) {
    throw new UsageError('changes and autoscaler both change the cluster. Set only one of them.');
  }
  return usable(() => parseBounds(min, max));
}

/** The short name of the autoscaler. */
export function autoscalerName({ autoscaler, scalePolicy }: BatonConfig): string {
  return scalePolicy === undefined ? (autoscaler ?? '') : basename(scalePolicy);
}

/**
 * The configuration with the minimum of its autoscaler as topology, when the user named none.
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

/** The autoscaler of a configuration, made for each run. */
export interface ConfiguredAutoscaler {
  readonly bounds: ScaleBounds;
  readonly intervalUs: Micros;
  /** The engines that it needs at first. Unset: unknown. */
  readonly begin?: Topology;
  /** @param watch counts the faults of a user's own policy; by default the first one throws */
  readonly create: (watch?: PolicyWatch) => Autoscaler;
}

export interface AutoscalingExtras {
  /** Unset: `goodput_ttft` and `goodput_tpot`. */
  readonly objectives?: Objectives | undefined;
  /** The requests of the future. Unset: unknown. */
  readonly trace?: TraceColumns | undefined;
  /** A policy given as an object. Unset: the module of `scale_policy`, if any. */
  readonly own?: OwnSpec<OwnScalePolicy> | undefined;
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
  { objectives, trace, own = ownScaler(config) }: AutoscalingExtras = {},
): ConfiguredAutoscaler | undefined {
  const bounds = scaleBounds(config);
  if (bounds === undefined) return undefined;
  const intervalUs = secondsToUs(usable(() => intervalOf(config)));
  checkMetricsAge(config, intervalUs);
  const startupUs = secondsToUs(startupSeconds(config));
  // Engines that the next decision starts are ready after this span.
  const aheadUs = intervalUs + startupUs - 1;
  const capacities = capacitiesOf(config, bounds.max);
  const given = {
    ttftSeconds: objectives?.ttftSeconds ?? config.goodputTtft / MS_PER_SECOND,
    itlSeconds: objectives?.itlSeconds ?? config.goodputTpot / MS_PER_SECOND,
  };
  const spec = usable(() => config.autoscaler && parseAutoscaler(config.autoscaler, given));
  const world = { ...given, windowUs: intervalUs, capacities, max: bounds.max };
  const needs = spec && trace && needsOf(spec, trace, { ...world, startupUs });
  const builtIn = (): ScalePolicy => {
    if (!spec) return KEEP;
    const random = RandomStream.root(config.seed).stream('autoscaler');
    return buildAutoscaler(spec, {
      capacities,
      random,
      ...(needs && { future: { needs, aheadUs } }),
    });
  };
  const create = (watch = STRICT): Autoscaler => {
    const random = RandomStream.root(config.seed).stream('scale policy');
    const fallback = builtIn();
    const policy = own ? new OwnScaler(own, { random, capacities, fallback, watch }) : fallback;
    return new Autoscaler({ policy, bounds, metricsAgeUs: secondsToUs(config.scaleMetricsAge) });
  };
  usable(() => checkStart(start, bounds));
  usable(create);
  return { bounds, intervalUs, create, ...(needs && { begin: needs.most(0, aheadUs) }) };
}

/** The future needs, for an autoscaler that uses them. */
function needsOf(
  spec: AutoscalerSpec,
  trace: TraceColumns,
  options: Omit<ForesightOptions, 'late'>,
): WindowCounts | undefined {
  return spec.kind === 'oracle' ? foresight(trace, { ...options, late: spec.late }) : undefined;
}

function intervalOf({ autoscaler, scaleInterval }: BatonConfig): number {
  return (autoscaler && writtenInterval(autoscaler)) || scaleInterval;
}

/** The scrapes of the whole age are kept, so their number is bounded. */
function checkMetricsAge({ scaleMetricsAge }: BatonConfig, intervalUs: Micros): void {
  const mostSeconds = usToSeconds(intervalUs * MOST_DELAY_INTERVALS);
  if (scaleMetricsAge <= mostSeconds) return;
  throw new UsageError(
    `scale_metrics_age ${scaleMetricsAge} s is more than ${MOST_DELAY_INTERVALS} intervals of ` +
      `the autoscaler (${mostSeconds} s). Reduce it, or increase scale_interval.`,
  );
}

function ownScaler({ scalePolicy }: BatonConfig): OwnSpec<OwnScalePolicy> | undefined {
  return scalePolicy === undefined
    ? undefined
    : ownPolicy<OwnScalePolicy>(scalePolicy, 'decide', ['cluster']);
}

/** The objectives of autoscalers in an SLO. */
export function objectivesOf(slo: ObjectivesUs | undefined): Objectives {
  const [ttftUs, itlUs] = [slo?.ttft, slo?.tpot ?? slo?.itl];
  return {
    ttftSeconds: ttftUs === undefined ? undefined : usToSeconds(ttftUs),
    itlSeconds: itlUs === undefined ? undefined : usToSeconds(itlUs),
  };
}

/** Engines that a trace needs over time, by the capacities of this configuration. */
export function demandOf(
  config: BatonConfig,
  trace: TraceColumns,
  { max, itlSeconds }: { max: Topology; itlSeconds: number | undefined },
): WindowCounts {
  return demandCurve(trace, {
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
    const capacity = new EngineCapacity({
      stepTime,
      maxNumBatchedTokens,
      maxNumSeqs,
      kvTokens,
      ranks: config.dataParallelSize,
    });
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
