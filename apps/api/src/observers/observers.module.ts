import {
  Global,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { Registry } from 'prom-client';
import { OBSERVER_PROVIDERS } from '.';
import { ClusterPictures } from './live-page/cluster-pictures';
import { Viewers } from './live-page/viewers';
import { EngineCensus } from './metrics/engine-census';
import { FlowMetrics } from './metrics/flow-metrics';
import { HttpMetrics } from './metrics/http-metrics';
import { ProcessMetrics } from './metrics/process-metrics';
import { QueueMetrics } from './metrics/queue-metrics';
import { Observers } from './port/observers';

const PROVIDERS: Provider[] = [
  // The metrics of this process. A test has several processes in one.
  { provide: Registry, useFactory: () => new Registry() },
  ...OBSERVER_PROVIDERS,
  ClusterPictures,
  EngineCensus,
  FlowMetrics,
  HttpMetrics,
  ProcessMetrics,
  QueueMetrics,
  Viewers,
];

/** The observers of requests: metrics, recordings, timelines, spans, the live page. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class ObserversModule implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly observers: Observers) {}

  async onModuleInit(): Promise<void> {
    await this.observers.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.observers.stop();
  }
}
