import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry } from 'prom-client';

/** Paths that vLLM's instrumentation leaves out. */
const UNCOUNTED = new Set(['/metrics', '/health', '/load', '/ping', '/version', '/server_info']);
/** trallnag/prometheus-fastapi-instrumentator's defaults, which vLLM serves. */
const FINE_SECONDS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30,
  60,
];

/** Counts HTTP answers by the names that dashboards of FastAPI servers know. */
@Injectable()
export class HttpMetrics {
  private readonly registry = new Registry();
  private readonly requests = new Counter({
    name: 'http_requests_total',
    help: 'Total number of requests by method, status and handler.',
    labelNames: ['method', 'status', 'handler'],
    registers: [this.registry],
  });
  private readonly fine = new Histogram({
    name: 'http_request_duration_highr_seconds',
    help: 'Latency with many buckets but no API specific labels. Made for more accurate percentile calculations.',
    buckets: FINE_SECONDS,
    registers: [this.registry],
  });
  private readonly byHandler = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Latency with only few buckets by handler. Made to be only used if aggregation by handler is important.',
    labelNames: ['method', 'handler'],
    buckets: [0.1, 0.5, 1],
    registers: [this.registry],
  });
  private readonly requestBytes = new SizeSummary('request', this.registry);
  private readonly responseBytes = new SizeSummary('response', this.registry);

  /** Counts the answer when it is through. `handler`: the route's pattern, `none` when nothing matched. */
  observe(message: IncomingMessage, response: ServerResponse, handler: string): void {
    if (UNCOUNTED.has(handler)) return;
    const startMs = performance.now();
    response.once('close', () => {
      const seconds = (performance.now() - startMs) / 1_000;
      const method = message.method ?? '';
      const status = `${Math.floor(response.statusCode / 100)}xx`;
      this.requests.inc({ method, status, handler });
      this.fine.observe(seconds);
      this.byHandler.observe({ method, handler }, seconds);
      this.requestBytes.observe(handler, Number(message.headers['content-length'] ?? 0) || 0);
      this.responseBytes.observe(handler, Number(response.getHeader('content-length') ?? 0) || 0);
    });
  }

  render(): Promise<string> {
    return this.registry.metrics();
  }
}

/** A summary without quantiles: a sum and a count. */
class SizeSummary {
  private readonly sizes = new Map<string, { sum: number; count: number }>();

  constructor(what: 'request' | 'response', registry: Registry) {
    const { sizes } = this;
    for (const part of ['sum', 'count'] as const) {
      new Counter({
        name: `http_${what}_size_bytes_${part}`,
        help: `Content length of ${what === 'request' ? 'incoming requests' : 'outgoing responses'} by handler, ${part}.`,
        labelNames: ['handler'],
        registers: [registry],
        collect() {
          this.reset();
          for (const [handler, size] of sizes) this.inc({ handler }, size[part]);
        },
      });
    }
  }

  observe(handler: string, bytes: number): void {
    const size = this.sizes.get(handler) ?? { sum: 0, count: 0 };
    this.sizes.set(handler, { sum: size.sum + bytes, count: size.count + 1 });
  }
}
