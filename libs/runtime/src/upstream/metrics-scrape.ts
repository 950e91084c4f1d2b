import { MAX_ENGINES } from '@baton/placement';
import { upstreamMetricsOf } from '../metrics/upstream-metrics';
import { engineFamilies, renderPage } from '../metrics/upstream-page';
import type { HostContext } from '../worker/host-context';
import type { UpstreamServer } from './upstream-server';

/** Scrapes that may fail to come in time before what was shown is gone. */
const KEPT_SCRAPES = 3;

/** Reads the metrics of one server again and again, and lays them where API processes find them. What the server does not tell any more is removed. */
export class MetricsScrape {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private isShown = false;

  constructor(
    private readonly context: HostContext,
    private readonly server: UpstreamServer,
    private readonly everyMs: number,
  ) {}

  start(): void {
    void this.scrape().finally(() => {
      if (!this.isStopped) this.timer = setTimeout(() => this.start(), this.everyMs);
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.hide();
  }

  private async scrape(): Promise<void> {
    const text = await this.server.metrics();
    if (this.isStopped) return;
    try {
      if (text === undefined) await this.hide();
      else await this.show(renderPage(engineFamilies(text)));
    } catch (error) {
      this.context.log.debug({ err: error }, 'metrics of the upstream server not shown');
    }
  }

  private async show(page: string): Promise<void> {
    const { transport, engineId } = this.context;
    const bounds = { maxEntries: MAX_ENGINES, ttlMs: Math.ceil(this.everyMs * KEPT_SCRAPES) };
    this.isShown = true;
    await transport.documents.put(upstreamMetricsOf(engineId), page, bounds);
  }

  private async hide(): Promise<void> {
    if (!this.isShown) return;
    this.isShown = false;
    await this.context.transport.documents.remove(upstreamMetricsOf(this.context.engineId));
  }
}
