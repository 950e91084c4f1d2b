import {
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { ClusterModule } from '../cluster/cluster.module';
import { SequencesModule } from '../sequences/sequences.module';
import { HttpModule } from '../http/http.module';
import { OBSERVER_PROVIDERS } from '.';
import { EngineCensus } from './metrics/engine-census';
import { FlowMetrics } from './metrics/flow-metrics';
import { Observers } from './port/observers';

const PROVIDERS: Provider[] = [...OBSERVER_PROVIDERS, EngineCensus, FlowMetrics];

/** The observers of requests: metrics, recordings, timelines, spans, the live page. */
@Module({
  imports: [ClusterModule, HttpModule, SequencesModule],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class ObserversModule implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly observers: Observers) {}

  async onModuleInit(): Promise<void> {
    await this.observers.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.observers.stop();
  }
}
