import { Module } from '@nestjs/common';
import { TimelinesController } from './timelines.controller';

/** What became of one request. */
@Module({ controllers: [TimelinesController] })
export class TimelinesModule {}
