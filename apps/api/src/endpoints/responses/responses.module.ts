import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { HttpModule } from '../../http/http.module';
import { RequestModule } from '../../request/request.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { Broadcasts } from './broadcasts';
import { Cancellations } from './cancellations';
import { ResponseAnswers } from './response-answers';
import { ResponseMemory } from './response-memory';
import { ResponseReader } from './response-reader';
import { ResponseStore } from './response-store';
import { ResponseViews } from './response-views';
import { ResponsesController } from './responses.controller';
import { ResponsesService } from './responses.service';
import { ResponseUpgrades } from './socket/response-upgrades';

/** OpenAI's Responses API, over HTTP and WebSockets. */
@Module({
  imports: [ClusterModule, HttpModule, RequestModule, ConversationsModule],
  controllers: [ResponsesController],
  providers: [
    Broadcasts,
    Cancellations,
    ResponseAnswers,
    ResponseMemory,
    ResponseUpgrades,
    ResponseReader,
    ResponseStore,
    ResponseViews,
    ResponsesService,
  ],
})
export class ResponsesModule {}
