import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { RequestModule } from '../../request/request.module';
import { GrpcHealth } from './grpc-health';
import { HealthController } from './health.controller';
import { LoadController } from './load.controller';
import { Readiness } from './readiness';

/** The health of the cluster and the load of this process. */
@Module({
  imports: [ClusterModule, RequestModule],
  controllers: [HealthController, LoadController],
  providers: [GrpcHealth, Readiness],
  exports: [Readiness],
})
export class HealthModule {}
