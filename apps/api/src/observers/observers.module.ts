import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { ClusterPictures } from './live-page/cluster-pictures';
import { RateMeter } from './live-page/rate-meter';
import { Viewers } from './live-page/viewers';
import { EngineCensus } from './metrics/engine-census';
import { FaultMetrics } from './metrics/fault-metrics';
import { HttpMetrics } from './metrics/http-metrics';
import { PlacementMetrics } from './metrics/placement-metrics';
import { ProcessMetrics } from './metrics/process-metrics';
import { QueueMetrics } from './metrics/queue-metrics';
import { RequestMetrics } from './metrics/request-metrics';
import { RequestRecorder } from './recording/request-recorder';
import { WireTaps } from './recording/wire-taps';
import { Timelines } from './timelines/timelines';
import { RequestSpans } from './tracing/request-spans';

const PROVIDERS = [
  ClusterPictures,
  EngineCensus,
  FaultMetrics,
  HttpMetrics,
  PlacementMetrics,
  ProcessMetrics,
  QueueMetrics,
  RateMeter,
  RequestMetrics,
  RequestRecorder,
  RequestSpans,
  Timelines,
  Viewers,
  WireTaps,
];

/** What is seen of requests: metrics, recordings, timelines, spans, the live page. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class ObserversModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly metrics: HttpMetrics,
  ) {}

  /** Refusals count as well: they come later than this hook. */
  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onRequest', (request, reply, done) => {
      this.metrics.observe(request.raw, reply.raw, request.routeOptions.url ?? 'none');
      done();
    });
  }
}
