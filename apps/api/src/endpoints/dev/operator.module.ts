import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { RequestModule } from '../../request/request.module';
import { Operator } from './operator';

/** Forwards the requests of operators to every engine and API process. */
@Module({ imports: [ClusterModule, RequestModule], providers: [Operator], exports: [Operator] })
export class OperatorModule {}
