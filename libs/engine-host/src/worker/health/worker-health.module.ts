import { Module } from '@nestjs/common';
import { WorkerController } from './worker.controller';
import { WorkerProbe } from './worker-probe';

/** `/health`, `/health/ready` and `/metrics` of a worker process. */
@Module({ controllers: [WorkerController], providers: [WorkerProbe] })
export class WorkerHealthModule {}
