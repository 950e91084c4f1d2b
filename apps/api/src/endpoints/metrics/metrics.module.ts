import { Module } from '@nestjs/common';
import { EngineFamilies } from './engine-families';
import { FrontFamilies } from './front-families';
import { MetricsController } from './metrics.controller';

/** What Prometheus scrapes. */
@Module({ controllers: [MetricsController], providers: [EngineFamilies, FrontFamilies] })
export class MetricsModule {}
