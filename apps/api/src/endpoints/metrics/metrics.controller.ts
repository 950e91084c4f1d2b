import { Controller, Get, Header, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ClusterView } from '../../cluster/cluster-view';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { EngineFamilies } from './engine-families';
import { FrontFamilies } from './front-families';
import { SharedWork } from './shared-work';

/** One scrape shows the whole cluster; at an engine's own port it shows that engine alone. */
@Controller('metrics')
export class MetricsController {
  /** Pages under way, by the engine at whose port they were requested. */
  private readonly pages = new SharedWork((engineId: string | undefined) => this.page(engineId));

  constructor(
    private readonly cluster: ClusterView,
    private readonly ofEngines: EngineFamilies,
    private readonly ofFront: FrontFamilies,
  ) {}

  @Describe('Health and metrics', 'Show the metrics of the cluster for Prometheus', {
    answers: ['text'],
  })
  @Get()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  scrape(@Req() { raw }: FastifyRequest): Promise<string> {
    return this.pages.resultFor(contextOf(raw).engineId);
  }

  private async page(engineId: string | undefined): Promise<string> {
    // The last known state is shown while the broker is unavailable.
    await this.cluster.refresh().catch(() => undefined);
    const living = this.cluster.living();
    const engines = living.filter(
      (engine) => engineId === undefined || engine.engineId === engineId,
    );
    await this.ofFront.refreshQueues(engines);
    const queues = engineId === undefined ? this.ofFront.renderQueues(engines) : [];
    const parts = [
      this.ofEngines.render(this.ofFront.withQueued(engines, living)),
      ...this.ofFront.renderRequests(engines),
      this.ofEngines.renderLoras(engines),
      ...queues,
      ...this.ofFront.renderProcess(),
    ];
    const page = parts.filter((part) => part !== '').map((part) => `${part.trimEnd()}\n`);
    return this.ofEngines.withServers(page.join(''), engines);
  }
}
