import { Module } from '@nestjs/common';
import { ObserversModule } from '../../observers/observers.module';
import { TimelinesController } from './timelines.controller';

/** The timelines of single requests. */
@Module({ imports: [ObserversModule], controllers: [TimelinesController] })
export class TimelinesModule {}
