import type { EnginePresence } from '@baton/contract';
import {
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import { boundLabel } from './bucket-counts';
import type { CacheConfigLabels } from './cache-config';
import { engineLabels } from './engine-labels';
import {
  type CounterFamily,
  ENGINE_METRICS,
  type GaugeFamily,
  type HistogramFamily,
  type MetricFamily,
  type SeriesLabels,
} from './families';
import {
  FLAVOUR_FAMILIES,
  type FlavourFamily,
  engineLoadOf,
  type MetricsFlavour,
} from './flavours';
import { VLLM_FAMILIES } from './vllm-families';

const CACHE_CONFIG_INFO = 'vllm:cache_config_info';

/** The engines that a scrape shows; called once per family and scrape. */
export type PresenceSource = () => readonly EnginePresence[];

export interface EngineMetricsSource {
  readonly presences: PresenceSource;
  readonly cacheConfig: (engine: EnginePresence) => CacheConfigLabels;
  readonly flavour: MetricsFlavour;
}

/**
 * Registers every family of `ENGINE_METRICS` so that a scrape of `registry` shows the engines that
 * `presences` returns: a worker's own, or all those that announced themselves.
 */
export function registerEngineMetrics(registry: Registry, source: EngineMetricsSource): void {
  for (const family of ENGINE_METRICS) registry.registerMetric(metricOf(family, source.presences));
  for (const family of FLAVOUR_FAMILIES[source.flavour]) {
    registry.registerMetric(new FlavourGauge(family, source));
  }
  registry.registerMetric(new CacheConfigInfo(source));
  registry.registerMetric(new EngineInfo(source));
  registry.registerMetric(new StepTimeInfo(source));
}

/** The text of all engine families for these engines. */
export async function renderClusterMetrics(
  presences: readonly EnginePresence[],
  source: Omit<EngineMetricsSource, 'presences'>,
): Promise<string> {
  const registry = new Registry();
  registerEngineMetrics(registry, { ...source, presences: () => presences });
  return registry.metrics();
}

/** Whether a family shows the work of a simulated engine under the name of a server. */
export function isSimulatedFamily(name: string): boolean {
  return SIMULATED.has(name);
}

const SIMULATED = new Set([
  CACHE_CONFIG_INFO,
  ...[VLLM_FAMILIES, ...Object.values(FLAVOUR_FAMILIES)].flat().map((family) => family.name),
]);

function metricOf(family: MetricFamily, presences: PresenceSource): Gauge | Counter | Histogram {
  switch (family.kind) {
    case 'gauge':
      return new EngineGauge(family, presences);
    case 'counter':
      return new EngineCounter(family, presences);
    case 'histogram':
      return new EngineHistogram(family, presences);
  }
}

function labelsOf(engine: EnginePresence, extra: SeriesLabels): Record<string, string> {
  return { ...engineLabels(engine), model_name: engine.model, ...extra };
}

/** The fields that prom-client requires of a metric besides its values. */
function head(family: { name: string; help: string }): { name: string; help: string } {
  return { name: family.name, help: family.help };
}

class EngineGauge extends Gauge {
  constructor(
    private readonly family: GaugeFamily,
    private readonly presences: PresenceSource,
  ) {
    super({ ...head(family), registers: [] });
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = this.presences().flatMap((engine) =>
      this.family.series.flatMap(({ labels, value: of }) => {
        const value = of(engine);
        return value === undefined ? [] : [{ labels: labelsOf(engine, labels), value }];
      }),
    );
    return { ...(await super.get()), values };
  }
}

class EngineCounter extends Counter {
  constructor(
    private readonly family: CounterFamily,
    private readonly presences: PresenceSource,
  ) {
    super({ ...head(family), registers: [] });
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const { series, isOptional = false } = this.family;
    const values = this.presences().flatMap((engine) =>
      series
        .filter(({ key }) => !isOptional || key in engine.counters)
        .map(({ labels, key }) => ({
          labels: labelsOf(engine, labels),
          value: engine.counters[key] ?? 0,
        })),
    );
    return { ...(await super.get()), values };
  }
}

interface HistogramText {
  readonly name: string;
  readonly help: string;
  readonly type: 'histogram';
  readonly aggregator: 'sum';
  values: MetricValueWithName<string>[];
}

class EngineHistogram extends Histogram {
  constructor(
    private readonly family: HistogramFamily,
    private readonly presences: PresenceSource,
  ) {
    super({ ...head(family), buckets: [...family.buckets], registers: [] });
  }

  /**
   * The hook through which prom-client reads a histogram, for the text form and for `get` alike.
   */
  getForPromString(): Promise<HistogramText> {
    const { name, help } = this.family;
    const values = this.presences().flatMap((engine) => this.seriesOf(engine));
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values });
  }

  private seriesOf(engine: EnginePresence): MetricValueWithName<string>[] {
    const { name, key, buckets } = this.family;
    const snapshot = engine.histograms[key];
    const labels = labelsOf(engine, {});
    const bounds = [...(snapshot?.le ?? buckets).map(boundLabel), '+Inf'];
    const series = bounds.map((le, i) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le },
      value: snapshot?.counts[i] ?? 0,
    }));
    return [
      ...series,
      { metricName: `${name}_sum`, labels, value: snapshot?.sum ?? 0 },
      { metricName: `${name}_count`, labels, value: snapshot?.count ?? 0 },
    ];
  }
}

/** vLLM's configuration as labels; it has no model_name. */
class CacheConfigInfo extends Gauge {
  constructor(private readonly source: EngineMetricsSource) {
    super({
      name: CACHE_CONFIG_INFO,
      help: 'Information of the LLMEngine CacheConfig',
      registers: [],
    });
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = this.source.presences().map((engine) => ({
      labels: { ...engineLabels(engine), ...this.source.cacheConfig(engine) },
      value: 1,
    }));
    return { ...(await super.get()), values };
  }
}

/** The load of each engine under the name that another server has for it. */
class FlavourGauge extends Gauge {
  constructor(
    private readonly family: FlavourFamily,
    private readonly source: EngineMetricsSource,
  ) {
    super({ ...head(family), registers: [] });
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = this.source
      .presences()
      .flatMap((engine) =>
        this.family
          .series(engineLoadOf(engine, this.source.cacheConfig(engine)))
          .map(({ labels = {}, value }) => ({ labels: labelsOf(engine, labels), value })),
      );
    return { ...(await super.get()), values };
  }
}

/**
 * The stage of each engine, which vLLM's families have no label for: to be joined with them on
 * `engine` (and `replica`).
 */
class EngineInfo extends Gauge {
  constructor(private readonly source: EngineMetricsSource) {
    super({
      name: 'baton:engine_info',
      help: 'Stage of the engine; join it with the families of engines.',
      registers: [],
    });
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = this.source
      .presences()
      .map((engine) => ({ labels: labelsOf(engine, { stage: engine.stage }), value: 1 }));
    return { ...(await super.get()), values };
  }
}

/** The step-time model of each simulated engine. */
class StepTimeInfo extends Gauge {
  constructor(private readonly source: EngineMetricsSource) {
    super({
      name: 'baton:step_time_info',
      help: 'How the step times of the engine are made: composed, calibrated, estimated or given.',
      registers: [],
    });
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = this.source.presences().flatMap((engine) => {
      if (engine.stepTimes === undefined) return [];
      const { method, description } = engine.stepTimes;
      return [{ labels: labelsOf(engine, { stage: engine.stage, method, description }), value: 1 }];
    });
    return { ...(await super.get()), values };
  }
}
