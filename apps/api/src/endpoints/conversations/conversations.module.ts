import { Module } from '@nestjs/common';
import { ConversationStore } from './conversation-store';
import { ConversationsController } from './conversations.controller';
import { ConversationsService } from './conversations.service';

/** Conversations kept between requests. */
@Module({
  controllers: [ConversationsController],
  providers: [ConversationStore, ConversationsService],
  exports: [ConversationStore],
})
export class ConversationsModule {}
