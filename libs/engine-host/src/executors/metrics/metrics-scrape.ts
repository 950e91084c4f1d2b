import { renderPage } from '@baton/telemetry';
import type { UpstreamServer } from '../server/upstream-server';
import { engineFamilies } from './upstream-page';

/** Reads the metrics of one server on request, at most once per minimum interval. */
export class MetricsScrape {
  private last = Promise.resolve('');
  private readMs = -Infinity;

  constructor(
    private readonly server: UpstreamServer,
    private readonly everyMs: number,
  ) {}

  /** The metrics of its engine; empty while the server does not answer. */
  page(): Promise<string> {
    const nowMs = performance.now();
    if (nowMs - this.readMs < this.everyMs) return this.last;
    this.readMs = nowMs;
    this.last = this.read();
    return this.last;
  }

  private async read(): Promise<string> {
    return renderPage(engineFamilies((await this.server.metrics()) ?? ''));
  }
}
