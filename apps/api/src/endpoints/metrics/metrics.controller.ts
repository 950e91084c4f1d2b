import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Registry, type RegistryContentType } from 'prom-client';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { MetricsPage } from './metrics-page';
import { SharedWork } from './shared-work';

/** One scrape shows the whole cluster; at an engine's own port it shows that engine alone. */
@Controller('metrics')
export class MetricsController {
  /** Pages under way, by the engine at whose port they were requested. */
  private readonly pages = {
    [Registry.PROMETHEUS_CONTENT_TYPE]: this.pagesIn(Registry.PROMETHEUS_CONTENT_TYPE),
    [Registry.OPENMETRICS_CONTENT_TYPE]: this.pagesIn(Registry.OPENMETRICS_CONTENT_TYPE),
  };

  constructor(private readonly page: MetricsPage) {}

  @Describe('Health and metrics', 'Show the metrics of the cluster for Prometheus', {
    answers: ['text'],
  })
  @Get()
  scrape(
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const contentType = this.page.contentTypeFor(raw.headers.accept);
    void reply.header('content-type', contentType);
    return this.pages[contentType].resultFor(contextOf(raw).engineId);
  }

  private pagesIn(contentType: RegistryContentType): SharedWork<string | undefined, string> {
    return new SharedWork((engineId) => this.page.at(engineId, contentType));
  }
}
