import { Module } from '@nestjs/common';
import { BatchController } from './batch.controller';
import { OperatorModule } from './operator.module';

/** The current batches of the engines. */
@Module({ imports: [OperatorModule], controllers: [BatchController] })
export class BatchModule {}
