import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { FramesModule } from '../../frames/frames.module';
import { HttpMetrics } from '../../observers/metrics/http-metrics';
import { ProcessMetrics } from '../../observers/metrics/process-metrics';
import { QueueMetrics } from '../../observers/metrics/queue-metrics';
import { ObserversModule } from '../../observers/observers.module';
import { RequestModule } from '../../request/request.module';
import { RoutersModule } from '../../routers/routers.module';
import { MetricsController } from './metrics.controller';
import { MetricsPage } from './metrics-page';

/** The metrics endpoint for Prometheus. */
@Module({
  imports: [ClusterModule, FramesModule, ObserversModule, RequestModule, RoutersModule],
  controllers: [MetricsController],
  providers: [HttpMetrics, MetricsPage, ProcessMetrics, QueueMetrics],
})
export class MetricsModule {}
