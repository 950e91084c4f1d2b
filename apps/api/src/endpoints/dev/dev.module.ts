import { Module } from '@nestjs/common';
import { RequestModule } from '../../request/request.module';
import { DevController } from './dev.controller';
import { OperatorModule } from './operator.module';
import { SleepOrders } from './sleep-orders';

/** vLLM's development mode. */
@Module({
  imports: [RequestModule, OperatorModule],
  controllers: [DevController],
  providers: [SleepOrders],
})
export class DevModule {}
