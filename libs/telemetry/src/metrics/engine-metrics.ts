import type { EnginePresence, HistogramSnapshot } from '@baton/contract';
import type { CacheConfigLabels } from './cache-config';
import { engineLabels } from './engine-labels';
import {
  type FamilyHead,
  type Labels,
  type MetricSeries,
  renderHistogram,
  renderNumbers,
} from './exposition';
import {
  type CounterFamily,
  ENGINE_METRICS,
  type GaugeFamily,
  type HistogramFamily,
  type MetricFamily,
} from './families';
import {
  engineLoadOf,
  FLAVOUR_FAMILIES,
  type FlavourFamily,
  type MetricsFlavour,
} from './flavours';
import { VLLM_FAMILIES } from './vllm-families';

export interface EngineMetricsSource {
  readonly cacheConfig: (engine: EnginePresence) => CacheConfigLabels;
  readonly flavour: MetricsFlavour;
}

/** An engine with the labels that all its series have. */
interface Labelled {
  readonly engine: EnginePresence;
  readonly labels: Labels;
}

type Series<V> = readonly MetricSeries<V>[];

/** The text of every family of `ENGINE_METRICS`, also without an engine. */
export function renderEngineMetrics(
  presences: readonly EnginePresence[],
  { cacheConfig, flavour }: EngineMetricsSource,
): string {
  const engines = presences.map((engine) => ({
    engine,
    labels: { ...engineLabels(engine), model_name: engine.model },
  }));
  return [
    ...ENGINE_METRICS.map((family) => renderFamily(family, engines)),
    ...FLAVOUR_FAMILIES[flavour].map((family) => renderFlavour(family, engines, cacheConfig)),
    renderNumbers(CACHE_CONFIG_INFO, 'gauge', cacheConfigs(presences, cacheConfig)),
    renderNumbers(ENGINE_INFO, 'gauge', stages(engines)),
    renderNumbers(STEP_TIME_INFO, 'gauge', stepTimeModels(engines)),
  ].join('');
}

/** vLLM's configuration as labels; it has no model_name. */
const CACHE_CONFIG_INFO: FamilyHead = {
  name: 'vllm:cache_config_info',
  help: 'Information of the LLMEngine CacheConfig',
};

/**
 * The stage of each engine, which vLLM's families have no label for: to be joined with them on
 * `engine` (and `replica`).
 */
const ENGINE_INFO: FamilyHead = {
  name: 'baton:engine_info',
  help: 'Stage of the engine; join it with the families of engines.',
};

/** The step-time model of each simulated engine. */
const STEP_TIME_INFO: FamilyHead = {
  name: 'baton:step_time_info',
  help: 'How the step times of the engine are made: composed, calibrated, estimated or given.',
};

/** Whether a family shows the work of a simulated engine under the name of a server. */
export function isSimulatedFamily(name: string): boolean {
  return SIMULATED.has(name);
}

const SIMULATED = new Set([
  CACHE_CONFIG_INFO.name,
  ...[VLLM_FAMILIES, ...Object.values(FLAVOUR_FAMILIES)].flat().map((family) => family.name),
]);

function renderFamily(family: MetricFamily, engines: readonly Labelled[]): string {
  switch (family.kind) {
    case 'gauge':
      return renderNumbers(family, 'gauge', gauges(family, engines));
    case 'counter':
      return renderNumbers(family, 'counter', counters(family, engines));
    case 'histogram':
      return renderHistogram(family, histograms(family, engines));
  }
}

function gauges({ series }: GaugeFamily, engines: readonly Labelled[]): Series<number> {
  return numbers(series, engines, ({ value }, engine) => value(engine));
}

function counters(
  { series, isOptional }: CounterFamily,
  engines: readonly Labelled[],
): Series<number> {
  const uncounted = isOptional ? undefined : 0;
  return numbers(series, engines, ({ key }, engine) => engine.counters[key] ?? uncounted);
}

/** Without the series that an engine does not have, whose value is undefined. */
function numbers<One extends { readonly labels: Labels }>(
  series: readonly One[],
  engines: readonly Labelled[],
  valueOf: (one: One, engine: EnginePresence) => number | undefined,
): Series<number> {
  const found: MetricSeries<number>[] = [];
  for (const { engine, labels } of engines) {
    for (const one of series) {
      const value = valueOf(one, engine);
      if (value !== undefined) found.push({ labels: { ...labels, ...one.labels }, value });
    }
  }
  return found;
}

/** An engine that has not counted yet has a histogram of zeros. */
function histograms(
  { key, buckets }: HistogramFamily,
  engines: readonly Labelled[],
): Series<HistogramSnapshot> {
  const none: HistogramSnapshot = { le: buckets, counts: [], sum: 0, count: 0 };
  return engines.map(({ engine, labels }) => ({ labels, value: engine.histograms[key] ?? none }));
}

/** The load of each engine under the name that another server has for it. */
function renderFlavour(
  { series, ...head }: FlavourFamily,
  engines: readonly Labelled[],
  cacheConfig: EngineMetricsSource['cacheConfig'],
): string {
  const all = engines.flatMap(({ engine, labels: own }) =>
    series(engineLoadOf(engine, cacheConfig(engine))).map(({ labels, value }) => ({
      labels: { ...own, ...labels },
      value,
    })),
  );
  return renderNumbers(head, 'gauge', all);
}

function cacheConfigs(
  presences: readonly EnginePresence[],
  cacheConfig: EngineMetricsSource['cacheConfig'],
): Series<number> {
  return presences.map((engine) => ({
    labels: { ...engineLabels(engine), ...cacheConfig(engine) },
    value: 1,
  }));
}

function stages(engines: readonly Labelled[]): Series<number> {
  return engines.map(({ engine: { stage }, labels }) => ({
    labels: { ...labels, stage },
    value: 1,
  }));
}

function stepTimeModels(engines: readonly Labelled[]): Series<number> {
  return engines.flatMap(({ engine: { stage, stepTimes }, labels }) => {
    if (stepTimes === undefined) return [];
    const { method, description } = stepTimes;
    return [{ labels: { ...labels, stage, method, description }, value: 1 }];
  });
}
