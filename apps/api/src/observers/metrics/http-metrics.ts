import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, Registry, Summary } from 'prom-client';

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
  private readonly families: ReturnType<typeof familiesIn>;

  constructor(
    private readonly host: HttpAdapterHost,
    registry: Registry,
  ) {
    this.families = familiesIn(registry);
  }

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
      const { requests, fine, byHandler, requestBytes, responseBytes } = this.families;
      const seconds = (performance.now() - startMs) / 1_000;
      const method = message.method ?? '';
      const status = `${Math.floor(response.statusCode / 100)}xx`;
      requests.inc({ method, status, handler });
      fine.observe(seconds);
      byHandler.observe({ method, handler }, seconds);
      requestBytes.observe({ handler }, lengthOf(message.headers['content-length']));
      responseBytes.observe({ handler }, lengthOf(response.getHeader('content-length')));
    });
  }
}

function familiesIn(registry: Registry) {
  const registers = [registry];
  /** A sum and a count by handler, without quantiles. */
  const bytes = (name: string, help: string): Summary<'handler'> =>
    new Summary({ name, help, labelNames: ['handler'], percentiles: [], registers });
  return {
    requests: new Counter({
      name: 'http_requests_total',
      help: 'Total number of requests by method, status and handler.',
      labelNames: ['method', 'status', 'handler'],
      registers,
    }),
    fine: new Histogram({
      name: 'http_request_duration_highr_seconds',
      help:
        'Latency with many buckets but no API specific labels. Made for more accurate ' +
        'percentile calculations. ',
      buckets: FINE_SECONDS,
      registers,
    }),
    byHandler: new Histogram({
      name: 'http_request_duration_seconds',
      help:
        'Latency with only few buckets by handler. Made to be only used if aggregation by ' +
        'handler is important. ',
      labelNames: ['method', 'handler'],
      buckets: COARSE_SECONDS,
      registers,
    }),
    requestBytes: bytes(
      'http_request_size_bytes',
      'Content length of incoming requests by handler. Only value of header is respected. ' +
        'Otherwise ignored. No percentile calculated. ',
    ),
    responseBytes: bytes(
      'http_response_size_bytes',
      'Content length of outgoing responses by handler. Only value of header is respected. ' +
        'Otherwise ignored. No percentile calculated. ',
    ),
  };
}

/** 0 without the header. */
function lengthOf(header: string | string[] | number | undefined): number {
  return Number(header ?? 0) || 0;
}
