import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { RequestModule } from '../../request/request.module';
import { ChatController } from './chat.controller';
import { ChatStore } from './chat-store';
import { StoredChatsController } from './stored-chats.controller';
import { StoredChatsService } from './stored-chats.service';

/** Chat completions, and the stored ones. */
@Module({
  imports: [ClusterModule, RequestModule],
  controllers: [ChatController, StoredChatsController],
  providers: [ChatStore, StoredChatsService],
})
export class ChatModule {}
