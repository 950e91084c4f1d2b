import { type DynamicModule, Module } from '@nestjs/common';
import { AdaptersModule } from './endpoints/adapters/adapters.module';
import { AdminModule } from './endpoints/admin/admin.module';
import { ChatModule } from './endpoints/chat/chat.module';
import { CompletionsModule } from './endpoints/completions/completions.module';
import { ConversationsModule } from './endpoints/conversations/conversations.module';
import { BatchModule } from './endpoints/dev/batch.module';
import { DevModule } from './endpoints/dev/dev.module';
import { DocsModule } from './endpoints/docs/docs.module';
import { EmbeddingsModule } from './endpoints/embeddings/embeddings.module';
import { HealthModule } from './endpoints/health/health.module';
import { LivePageModule } from './endpoints/live-page/live-page.module';
import { MessagesModule } from './endpoints/messages/messages.module';
import { MetricsModule } from './endpoints/metrics/metrics.module';
import { ModelsModule } from './endpoints/models/models.module';
import { ResponsesModule } from './endpoints/responses/responses.module';
import { TimelinesModule } from './endpoints/timelines/timelines.module';
import { TokensModule } from './endpoints/tokens/tokens.module';
import { HttpModule } from './http/http.module';
import { type ProcessDependencies, ProcessModule } from './process.module';

const ENDPOINTS = [
  ChatModule,
  CompletionsModule,
  ConversationsModule,
  DocsModule,
  EmbeddingsModule,
  HealthModule,
  LivePageModule,
  MessagesModule,
  MetricsModule,
  ModelsModule,
  ResponsesModule,
  TimelinesModule,
  TokensModule,
];

/**
 * The API process. Each part starts and ends by Nest's own hooks, in this order:
 *
 * 1. `onModuleInit`: it opens its files and listens for frames and settings.
 * 2. `onApplicationBootstrap`: it announces itself, and its timers begin. Then the port is opened.
 * 3. `onModuleDestroy`: new requests are refused and those under way end (`Drain`); all parts still
 *   run.
 * 4. `beforeApplicationShutdown`: connections that would keep the server open are closed.
 * 5. `onApplicationShutdown`: the server is closed; timers, subscriptions and files end.
 */
@Module({})
export class ApiModule {
  static forRoot(dependencies: ProcessDependencies): DynamicModule {
    const { config } = dependencies;
    return {
      module: ApiModule,
      imports: [
        ProcessModule.forRoot(dependencies),
        HttpModule,
        ...ENDPOINTS,
        ...(config.enableAdmin ? [AdminModule] : []),
        ...(config.enableDevMode ? [DevModule] : []),
        ...(config.enableDevMode || config.enableAdmin ? [BatchModule] : []),
        ...(config.allowRuntimeLoraUpdating ? [AdaptersModule] : []),
      ],
    };
  }
}
