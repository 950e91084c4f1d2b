import { Module } from '@nestjs/common';
import { GrpcHealth } from './grpc-health';
import { HealthController } from './health.controller';
import { LoadController } from './load.controller';
import { Readiness } from './readiness';

/** Whether requests would be served, and how busy this process is. */
@Module({ controllers: [HealthController, LoadController], providers: [GrpcHealth, Readiness] })
export class HealthModule {}
