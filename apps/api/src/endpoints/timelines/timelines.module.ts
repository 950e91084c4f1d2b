import { Module } from '@nestjs/common';
import { TimelinesController } from './timelines.controller';

/** The timelines of single requests. */
@Module({ controllers: [TimelinesController] })
export class TimelinesModule {}
