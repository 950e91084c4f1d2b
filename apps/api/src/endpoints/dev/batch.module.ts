import { Module } from '@nestjs/common';
import { BatchController } from './batch.controller';
import { OperatorModule } from './operator.module';

/** What the engines compute at this moment. */
@Module({ imports: [OperatorModule], controllers: [BatchController] })
export class BatchModule {}
