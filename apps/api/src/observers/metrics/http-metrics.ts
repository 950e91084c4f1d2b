import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  BucketCounts,
  type Labels,
  type MetricSeries,
  renderHistogram,
  renderNumbers,
  renderSummary,
} from '@baton/telemetry';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';

/** Paths that vLLM's instrumentation leaves out. */
const UNCOUNTED = new Set(['/metrics', '/health', '/load', '/ping', '/version', '/server_info']);
/** Defaults of trallnag/prometheus-fastapi-instrumentator, which vLLM serves. */
const FINE_SECONDS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30,
  60,
];
const COARSE_SECONDS = [0.1, 0.5, 1];

/** Counts HTTP answers by the metric names of FastAPI dashboards. */
@Injectable()
export class HttpMetrics implements OnModuleInit {
  private readonly requests = new ByLabels<{ count: number }>(() => ({ count: 0 }));
  private readonly fine = new BucketCounts(FINE_SECONDS);
  private readonly byHandler = new ByLabels(() => new BucketCounts(COARSE_SECONDS));
  private readonly requestBytes = new ByLabels(() => new Sum());
  private readonly responseBytes = new ByLabels(() => new Sum());

  constructor(private readonly host: HttpAdapterHost) {}

  /** Refusals count as well: they happen after this hook. */
  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onRequest', (request, reply, done) => {
      this.observe(request.raw, reply.raw, request.routeOptions.url ?? 'none');
      done();
    });
  }

  /** Counts a finished answer. `handler`: the route's pattern, or `none`. */
  private observe(message: IncomingMessage, response: ServerResponse, handler: string): void {
    if (UNCOUNTED.has(handler)) return;
    const startMs = performance.now();
    response.once('close', () => {
      const seconds = (performance.now() - startMs) / 1_000;
      const method = message.method ?? '';
      const status = `${Math.floor(response.statusCode / 100)}xx`;
      this.requests.of({ method, status, handler }).count += 1;
      this.fine.observe(seconds);
      this.byHandler.of({ method, handler }).observe(seconds);
      this.requestBytes.of({ handler }).add(lengthOf(message.headers['content-length']));
      this.responseBytes.of({ handler }).add(lengthOf(response.getHeader('content-length')));
    });
  }

  render(): string {
    return [
      renderNumbers(
        {
          name: 'http_requests_total',
          help: 'Total number of requests by method, status and handler.',
        },
        'counter',
        this.requests.series(({ count }) => count),
      ),
      renderHistogram(
        {
          name: 'http_request_duration_highr_seconds',
          help:
            'Latency with many buckets but no API specific labels. Made for more accurate ' +
            'percentile calculations. ',
        },
        [{ labels: {}, value: this.fine.snapshot() }],
      ),
      renderHistogram(
        {
          name: 'http_request_duration_seconds',
          help:
            'Latency with only few buckets by handler. Made to be only used if aggregation by ' +
            'handler is important. ',
        },
        this.byHandler.series((counts) => counts.snapshot()),
      ),
      renderSummary(
        {
          name: 'http_request_size_bytes',
          help:
            'Content length of incoming requests by handler. Only value of header is ' +
            'respected. Otherwise ignored. No percentile calculated. ',
        },
        this.requestBytes.series((sum) => sum),
      ),
      renderSummary(
        {
          name: 'http_response_size_bytes',
          help:
            'Content length of outgoing responses by handler. Only value of header is ' +
            'respected. Otherwise ignored. No percentile calculated. ',
        },
        this.responseBytes.series((sum) => sum),
      ),
    ].join('');
  }
}

class Sum {
  sum = 0;
  count = 0;

  add(value: number): void {
    this.sum += value;
    this.count += 1;
  }
}

/** One value per set of labels. Handlers are route patterns, so there are few. */
class ByLabels<V> {
  private readonly known = new Map<string, { readonly labels: Labels; readonly value: V }>();

  constructor(private readonly fresh: () => V) {}

  of(labels: Labels): V {
    const key = Object.values(labels).join(' ');
    const known = this.known.get(key) ?? { labels, value: this.fresh() };
    this.known.set(key, known);
    return known.value;
  }

  series<T>(read: (value: V) => T): MetricSeries<T>[] {
    return [...this.known.values()].map(({ labels, value }) => ({ labels, value: read(value) }));
  }
}

/** 0 without the header. */
function lengthOf(header: string | string[] | number | undefined): number {
  return Number(header ?? 0) || 0;
}
