import { type BatonConfig, LiveSettings, shownEngines } from '@baton/config';
import { withUpstreamMetrics } from '@baton/executors';
import { cacheConfigLabels, renderClusterMetrics } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { Controller, Get, Header, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ClusterView } from '../../cluster/cluster-view';
import { ModelCatalog } from '../../cluster/model-catalog';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { EngineCensus } from '../../observers/metrics/engine-census';
import { renderFakeLoras } from '../../observers/metrics/fake-loras';
import { FaultMetrics } from '../../observers/metrics/fault-metrics';
import { HttpMetrics } from '../../observers/metrics/http-metrics';
import { renderLoraInfo } from '../../observers/metrics/lora-info';
import { PlacementMetrics } from '../../observers/metrics/placement-metrics';
import { ProcessMetrics } from '../../observers/metrics/process-metrics';
import { QueueMetrics } from '../../observers/metrics/queue-metrics';
import { RequestMetrics } from '../../observers/metrics/request-metrics';
import { CONFIG, TRANSPORT } from '../../tokens';

/** One scrape shows the whole cluster; at an engine's own port that engine alone. */
@Controller('metrics')
export class MetricsController {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    private readonly catalog: ModelCatalog,
    private readonly cluster: ClusterView,
    private readonly requests: RequestMetrics,
    private readonly http: HttpMetrics,
    private readonly process: ProcessMetrics,
    private readonly placement: PlacementMetrics,
    private readonly queues: QueueMetrics,
    private readonly census: EngineCensus,
    private readonly faults: FaultMetrics,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
  ) {}

  @Describe('Health and metrics', 'Metrics of the cluster for Prometheus', { answers: ['text'] })
  @Get()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  async scrape(@Req() request: FastifyRequest): Promise<string> {
    const { engineId } = contextOf(request.raw);
    // What is known is shown when the broker cannot be asked.
    await this.cluster.refresh().catch(() => undefined);
    const engines = this.cluster
      .living()
      .filter((engine) => engineId === undefined || engine.engineId === engineId);
    const isWhole = engineId === undefined;
    if (isWhole) await this.queues.refresh(engines).catch(() => undefined);
    const labels = cacheConfigLabels(this.config, this.catalog.maxModelLen);
    const parts = [
      await renderClusterMetrics(
        shownEngines(engines, this.settings.current, Date.now() * 1_000),
        labels,
      ),
      this.requests.render(engines),
      this.placement.render(engines),
      this.faults.render(),
      renderFakeLoras(this.settings.current.config) || renderLoraInfo(engines, this.config),
      ...(isWhole ? [this.queues.render(), this.census.render()] : []),
      this.http.render(),
      this.process.render(),
    ];
    const page = parts
      .filter((part) => part !== '')
      .map((part) => `${part.trimEnd()}\n`)
      .join('');
    const { config, transport } = this;
    return withUpstreamMetrics(page, engines, { config, transport });
  }
}
