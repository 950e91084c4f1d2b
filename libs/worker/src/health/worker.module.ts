import { type DynamicModule, Module } from '@nestjs/common';
import { WORKER_PROBE, type WorkerProbe } from './worker-probe';
import { WorkerController } from './worker.controller';

/** `/health`, `/health/ready` and `/metrics` of a worker process. */
@Module({})
export class WorkerModule {
  static forRoot(probe: WorkerProbe): DynamicModule {
    return {
      module: WorkerModule,
      controllers: [WorkerController],
      providers: [{ provide: WORKER_PROBE, useValue: probe }],
    };
  }
}
