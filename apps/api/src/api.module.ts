import { type DynamicModule, Module } from '@nestjs/common';
import { LmcacheModule } from './compat/lmcache/lmcache.module';
import { MooncakeModule } from './compat/mooncake/mooncake.module';
import { P2pNcclModule } from './compat/p2p-nccl/p2p-nccl.module';
import { SglangModule } from './compat/sglang/sglang.module';
import { TensorrtLlmModule } from './compat/tensorrt-llm/tensorrt-llm.module';
import { XpydSimModule } from './compat/xpyd-sim/xpyd-sim.module';
import { AdaptersModule } from './endpoints/adapters/adapters.module';
import { AdminModule } from './endpoints/admin/admin.module';
import { ChatModule } from './endpoints/chat/chat.module';
import { CompletionsModule } from './endpoints/completions/completions.module';
import { ConversationsModule } from './endpoints/conversations/conversations.module';
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

/** What clients and routers of other projects send and read. */
const COMPATIBILITY = [
  TensorrtLlmModule,
  SglangModule,
  P2pNcclModule,
  LmcacheModule,
  MooncakeModule,
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
        ...COMPATIBILITY,
        ...(config.enableAdmin ? [AdminModule] : []),
        ...(config.enableDevMode ? [DevModule] : []),
        ...(config.enableDevMode || config.enableAdmin ? [XpydSimModule] : []),
        ...(config.allowRuntimeLoraUpdating ? [AdaptersModule] : []),
      ],
    };
  }
}
