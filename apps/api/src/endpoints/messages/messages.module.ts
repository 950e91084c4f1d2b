import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { RequestModule } from '../../request/request.module';
import { MessagesController } from './messages.controller';

/** Anthropic's Messages API. */
@Module({ imports: [ClusterModule, RequestModule], controllers: [MessagesController] })
export class MessagesModule {}
