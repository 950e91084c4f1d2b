import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { RequestModule } from '../../request/request.module';
import { ConversationStore } from './conversation-store';
import { ConversationsController } from './conversations.controller';
import { ConversationsService } from './conversations.service';

/** Conversations kept between requests. */
@Module({
  imports: [ClusterModule, RequestModule],
  controllers: [ConversationsController],
  providers: [ConversationStore, ConversationsService],
  exports: [ConversationStore],
})
export class ConversationsModule {}
