import { type DynamicModule, Module } from '@nestjs/common';
import { EnginesModule, type WorkerDependencies } from './engines.module';
import { WorkerHealthModule } from './health/worker-health.module';

/** A worker process: its engines, health and metrics. */
@Module({})
export class WorkerModule {
  static forRoot(dependencies: WorkerDependencies): DynamicModule {
    return {
      module: WorkerModule,
      imports: [EnginesModule.forRoot(dependencies), WorkerHealthModule],
    };
  }
}
