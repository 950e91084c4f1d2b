import { LiveSettings, shownEngines } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { askEngines, withUpstreamFamilies } from '@baton/engine-host';
import {
  engineFamilies,
  exposed,
  familiesOf,
  hasExemplars,
  type MetricFamily,
  modelLabels,
} from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { Registry, type RegistryContentType } from 'prom-client';
import { ClusterView } from '../../cluster/cluster-view';
import { ModelCatalog } from '../../cluster/model-catalog';
import { CLUSTER_FAMILIES } from '../../observers/metrics/engine-census';
import { loraFamilies } from '../../observers/metrics/lora-info';
import { PlacementMetrics } from '../../observers/metrics/placement-metrics';
import { QUEUE_FAMILIES, QueueMetrics } from '../../observers/metrics/queue-metrics';
import { RequestMetrics } from '../../observers/metrics/request-metrics';
import { ApiProcesses } from '../../processes/api-processes';
import { Config, Log, Broker } from '../../tokens';

/** Families that the page of one engine does not have. */
const OF_WHOLE_CLUSTER = new Set<string>([...CLUSTER_FAMILIES, ...QUEUE_FAMILIES]);

/**
 * The page of metrics: what the API processes of this port count, and what engines publish.
 *
 * The engines are asked after the own counts are read. An engine counts the tokens of a step before
 * it sends them, so a request that has ended is in the counts of its engines as well.
 */
@Injectable()
export class MetricsPage {
  constructor(
    private readonly config: Config,
    private readonly logger: Log,
    private readonly transport: Broker,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
    private readonly cluster: ClusterView,
    private readonly catalog: ModelCatalog,
    private readonly registry: Registry,
    private readonly requests: RequestMetrics,
    private readonly placement: PlacementMetrics,
    private readonly queues: QueueMetrics,
    private readonly apiProcesses: ApiProcesses,
  ) {
    apiProcesses.answer('metrics', (engineId) =>
      this.own(typeof engineId === 'string' ? engineId : undefined),
    );
  }

  /**
   * OpenMetrics where requests have traces, for its exemplars, and the client accepts it; else
   * Prometheus' text format, whose names and order are those of vLLM.
   *
   * @param accept the header of that name
   */
  contentTypeFor(accept: string | undefined): RegistryContentType {
    const isAccepted = accept?.includes('application/openmetrics-text') ?? false;
    return isAccepted && hasExemplars(this.registry)
      ? Registry.OPENMETRICS_CONTENT_TYPE
      : Registry.PROMETHEUS_CONTENT_TYPE;
  }

  /** @param engineId the engine at whose port it is; undefined: the port of the cluster */
  async at(engineId: string | undefined, contentType: RegistryContentType): Promise<string> {
    const { config, logger: log, transport, catalog, queues } = this;
    // The last known state is shown while the broker is unavailable.
    await this.cluster.refresh().catch(() => undefined);
    await queues.refresh(this.enginesAt(engineId)).catch(() => undefined);
    const own = await this.own(engineId);
    const others = await this.apiProcesses.query('metrics', engineId ?? null, own);
    const front = [own, ...(others as MetricFamily[][])];
    const reports = await askEngines(this.enginesAt(engineId), { config, transport, log });
    const engines = reports.map(({ presence }) => presence);
    const loaded = queues.withQueued(engines, this.cluster.living());
    const { current } = this.settings;
    const shown = shownEngines(loaded, current, Date.now() * 1_000);
    const published = [
      ...engineFamilies(shown, { config, maxModelLen: catalog.maxModelLen }),
      ...loraFamilies(engines, current.config),
      this.placement.placements(engines),
    ];
    return exposed(withUpstreamFamilies([...front, published], reports, config), contentType);
  }

  private enginesAt(engineId: string | undefined): readonly EnginePresence[] {
    const living = this.cluster.living();
    if (engineId === undefined) return living;
    return living.filter((engine) => engine.engineId === engineId);
  }

  /** The counts of this process. */
  private async own(engineId: string | undefined): Promise<MetricFamily[]> {
    const engines = this.enginesAt(engineId);
    this.requests.show(engines);
    const labelsOf = new Map(engines.map((engine) => [engine.engineId, modelLabels(engine)]));
    const families = await familiesOf(this.registry, labelsOf);
    return [...families, ...this.placement.ofPolicies()].filter(
      ({ name }) => engineId === undefined || !OF_WHOLE_CLUSTER.has(name),
    );
  }
}
