import { Global, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { OBSERVER_PROVIDERS } from '.';
import { ClusterPictures } from './live-page/cluster-pictures';
import { Viewers } from './live-page/viewers';
import { EngineCensus } from './metrics/engine-census';
import { HttpMetrics } from './metrics/http-metrics';
import { ProcessMetrics } from './metrics/process-metrics';
import { QueueMetrics } from './metrics/queue-metrics';
import { Observers } from './port/observers';

const PROVIDERS = [
  ...OBSERVER_PROVIDERS,
  ClusterPictures,
  EngineCensus,
  HttpMetrics,
  ProcessMetrics,
  QueueMetrics,
  Viewers,
];

/** What is seen of requests: metrics, recordings, timelines, spans, the live page. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class ObserversModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly metrics: HttpMetrics,
    private readonly observers: Observers,
  ) {}

  async onModuleInit(): Promise<void> {
    this.countAnswers();
    await this.observers.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.observers.stop();
  }

  /** Refusals count as well: they come later than this hook. */
  private countAnswers(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onRequest', (request, reply, done) => {
      this.metrics.observe(request.raw, reply.raw, request.routeOptions.url ?? 'none');
      done();
    });
  }
}
