import { Module } from '@nestjs/common';
import { DevController } from './dev.controller';
import { OperatorModule } from './operator.module';
import { SleepOrders } from './sleep-orders';

/** vLLM's development mode. */
@Module({ imports: [OperatorModule], controllers: [DevController], providers: [SleepOrders] })
export class DevModule {}
