import { Module } from '@nestjs/common';
import { BatchController } from './batch.controller';
import { OperatorModule } from '../../endpoints/dev/operator.module';

/** The current batches of the engines, with the fields of xPyD-sim. */
@Module({ imports: [OperatorModule], controllers: [BatchController] })
export class XpydSimModule {}
