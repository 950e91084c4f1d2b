import { Module } from '@nestjs/common';
import { ClassFamilies } from './class-families';
import { EngineFamilies } from './engine-families';
import { FrontFamilies } from './front-families';
import { MetricsController } from './metrics.controller';

/** What Prometheus scrapes. */
@Module({
  controllers: [MetricsController],
  providers: [ClassFamilies, EngineFamilies, FrontFamilies],
})
export class MetricsModule {}
