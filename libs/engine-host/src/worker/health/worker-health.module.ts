import { Module } from '@nestjs/common';
import { WorkerProbe } from './worker-probe';
import { WorkerController } from './worker.controller';

/** `/health`, `/health/ready` and `/metrics` of a worker process. */
@Module({ controllers: [WorkerController], providers: [WorkerProbe] })
export class WorkerHealthModule {}
