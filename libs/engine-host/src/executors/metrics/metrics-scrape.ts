import type { UpstreamServer } from '../server/upstream-server';

/** Reads the metrics of one server on request, at most once per minimum interval. */
export class MetricsScrape {
  private last = Promise.resolve('');
  private readMs = -Infinity;

  /** @param everyMs 0: never */
  constructor(
    private readonly server: UpstreamServer,
    private readonly everyMs: number,
  ) {}

  /** The server's page; empty while the server does not answer. */
  page(): Promise<string> {
    const nowMs = performance.now();
    if (this.everyMs === 0 || nowMs - this.readMs < this.everyMs) return this.last;
    this.readMs = nowMs;
    this.last = this.server.metrics().then((page) => page ?? '');
    return this.last;
  }
}
