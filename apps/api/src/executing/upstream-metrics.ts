import type { EnginePresence } from '@baton/contract';
import {
  type BatonConfig,
  engineLabels,
  executes,
  isSimulatedFamily,
  parsePage,
  type UpstreamPage,
  upstreamMetricsOf,
  withUpstreamPages,
} from '@baton/runtime';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, TRANSPORT } from '../tokens';

/** What the servers of executing engines count, where a scrape would else show what is simulated here. */
@Injectable()
export class UpstreamMetrics {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
  ) {}

  async around(page: string, engines: readonly EnginePresence[]): Promise<string> {
    if (this.config.upstreamMetricsInterval === 0) return page;
    const executing = engines.filter(({ stage }) => executes(this.config, stage));
    if (executing.length === 0) return page;
    const pages = await Promise.all(executing.map((engine) => this.pageOf(engine)));
    return withUpstreamPages(page, pages, isSimulatedFamily);
  }

  /** Without numbers when the broker cannot be asked. */
  private async pageOf(engine: EnginePresence): Promise<UpstreamPage> {
    const place = upstreamMetricsOf(engine.engineId);
    const text = await this.transport.documents.get(place).catch(() => undefined);
    return { labels: engineLabels(engine), families: text === undefined ? [] : parsePage(text) };
  }
}
