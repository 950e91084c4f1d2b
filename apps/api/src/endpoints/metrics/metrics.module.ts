import { Module } from '@nestjs/common';
import { MetricsController } from './metrics.controller';
import { MetricsPage } from './metrics-page';

/** The metrics endpoint for Prometheus. */
@Module({ controllers: [MetricsController], providers: [MetricsPage] })
export class MetricsModule {}
