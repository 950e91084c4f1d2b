import { Module } from '@nestjs/common';
import { ClassFamilies } from './class-families';
import { EngineFamilies } from './engine-families';
import { FrontFamilies } from './front-families';
import { MetricsController } from './metrics.controller';

/** The metrics endpoint for Prometheus. */
@Module({
  controllers: [MetricsController],
  providers: [ClassFamilies, EngineFamilies, FrontFamilies],
})
export class MetricsModule {}
