import { Controller, Get, Header, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Registry } from 'prom-client';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { MetricsPage } from './metrics-page';
import { SharedWork } from './shared-work';

/** One scrape shows the whole cluster; at an engine's own port it shows that engine alone. */
@Controller('metrics')
export class MetricsController {
  /** Pages under way, by the engine at whose port they were requested. */
  private readonly pages = new SharedWork((engineId: string | undefined) => this.page.at(engineId));

  constructor(private readonly page: MetricsPage) {}

  @Describe('Health and metrics', 'Show the metrics of the cluster for Prometheus', {
    answers: ['text'],
  })
  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  scrape(@Req() { raw }: FastifyRequest): Promise<string> {
    return this.pages.resultFor(contextOf(raw).engineId);
  }
}
