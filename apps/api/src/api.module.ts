import type { IncomingMessage, ServerResponse } from 'node:http';
import { SystemWallClock } from '@baton/clock';
import { type BatonConfig, LiveSettings } from '@baton/config';
import { buildRouting, type JobRouting } from '@baton/routing';
import { type Logger, moduleLogger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { type EngineStarter, Membership } from '@baton/worker';
import { type DynamicModule, Module, type Provider, RequestMethod, Scope } from '@nestjs/common';
import { APP_FILTER, INQUIRER } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import { ApiLifecycle } from './api-lifecycle';
import { AdapterRegistry } from './cluster/adapters/adapter-registry';
import { ClusterView } from './cluster/cluster-view';
import { ExposedEngines } from './cluster/exposed-engines';
import { ModelCatalog } from './cluster/model-catalog';
import { Submitter } from './cluster/submitter';
import { AdaptersController } from './endpoints/adapters/adapters.controller';
import { EnginesController } from './endpoints/admin/engines.controller';
import { SettingsController } from './endpoints/admin/settings.controller';
import { ConversationStore } from './endpoints/conversations/conversation-store';
import { ConversationsController } from './endpoints/conversations/conversations.controller';
import { ConversationsService } from './endpoints/conversations/conversations.service';
import { BatchController } from './endpoints/dev/batch.controller';
import { DevController } from './endpoints/dev/dev.controller';
import { LoadController } from './endpoints/dev/load.controller';
import { Operator } from './endpoints/dev/operator';
import { OpenApiController } from './endpoints/docs/openapi.controller';
import { PoolingController } from './endpoints/embeddings/pooling.controller';
import { GenerationController } from './endpoints/generation/generation.controller';
import { HealthController } from './endpoints/health/health.controller';
import { Readiness } from './endpoints/health/readiness';
import { UiController } from './endpoints/live-page/ui.controller';
import { MessagesController } from './endpoints/messages/messages.controller';
import { MetricsController } from './endpoints/metrics/metrics.controller';
import { ModelsController } from './endpoints/models/models.controller';
import { ServerInfoController } from './endpoints/models/server-info.controller';
import { Broadcasts } from './endpoints/responses/broadcasts';
import { Cancellations } from './endpoints/responses/cancellations';
import { ResponseAnswers } from './endpoints/responses/response-answers';
import { ResponseMemory } from './endpoints/responses/response-memory';
import { ResponseStore } from './endpoints/responses/response-store';
import { ResponsesController } from './endpoints/responses/responses.controller';
import { ResponsesService } from './endpoints/responses/responses.service';
import { ResponseSockets } from './endpoints/responses/socket/response-sockets';
import { TimelinesController } from './endpoints/timelines/timelines.controller';
import { GenerateController } from './endpoints/tokens/generate.controller';
import { RenderController } from './endpoints/tokens/render.controller';
import { SglangController } from './endpoints/tokens/sglang.controller';
import { TokenizeController } from './endpoints/tokens/tokenize.controller';
import { Aborter } from './frames/aborter';
import { FrameInbox } from './frames/frame-inbox';
import { Recovery } from './frames/recovery';
import { Rehomer } from './frames/rehomer';
import { Resender } from './frames/resender';
import { Resubmitter } from './frames/resubmitter';
import { SequenceTable } from './frames/sequence-table';
import { AccessGate } from './http/access/access-gate';
import { RateLimits } from './http/access/rate-limits';
import { ErrorFilter } from './http/error.filter';
import { KnownRoutes } from './http/known-routes';
import { contextOf } from './http/request-context';
import { ReaderWatch } from './http/streaming/reader-watch';
import { OBSERVER_PROVIDERS } from './observers';
import { LiveSequences, WaitingTotals } from './observers/state';
import { ClusterPictures } from './observers/live-page/cluster-pictures';
import { Viewers } from './observers/live-page/viewers';
import { EngineCensus } from './observers/metrics/engine-census';
import { HttpMetrics } from './observers/metrics/http-metrics';
import { ProcessMetrics } from './observers/metrics/process-metrics';
import { QueueMetrics } from './observers/metrics/queue-metrics';
import { AdmissionGate } from './request/admit/admission-gate';
import { KvCapacity } from './request/admit/kv-capacity';
import { SloGate } from './request/admit/slo-gate';
import { Dispatcher } from './request/dispatch/dispatcher';
import { JobFactory } from './request/dispatch/job-factory';
import { AnswerOpener } from './request/exchange/answer-opener';
import { Exchanges } from './request/exchange/exchanges';
import { LiveExchanges } from './request/exchange/live-exchanges';
import { Executions } from './request/executed/executions';
import { FaultInjector } from './request/faults/fault-injector';
import { OutputPlanner } from './request/plan/output-planner';
import { Replies } from './request/plan/text-models/replies';
import { TextSetup } from './request/plan/text-models/text-setup';
import { Player } from './request/playing/player';
import { JobPlacement } from './request/route/job-placement';
import { RoutePlanner } from './request/route/route-planner';
import { GenerationService } from './request/take/generation.service';
import { RequestIntake } from './request/take/request-intake';
import { BootstrapController } from './routers/bootstrap.controller';
import { KvRelease } from './routers/kv-release';
import { LegPairs } from './routers/leg-pairs';
import { Legs } from './routers/legs';
import { API_IDENTITY, type ApiIdentity, CONFIG, LOGGER, ROUTING, TRANSPORT } from './tokens';

/** What the module cannot make by itself. */
export interface ApiDependencies {
  readonly config: BatonConfig;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly identity: ApiIdentity;
  readonly routes: KnownRoutes;
  /** Unset: nobody here can start engines. */
  readonly starter?: EngineStarter | undefined;
}

const PROVIDERS = [
  AccessGate,
  AdapterRegistry,
  AdmissionGate,
  AnswerOpener,
  Aborter,
  ApiLifecycle,
  Broadcasts,
  Cancellations,
  ClusterPictures,
  ClusterView,
  ConversationStore,
  ConversationsService,
  Dispatcher,
  EngineCensus,
  Executions,
  Exchanges,
  ExposedEngines,
  FaultInjector,
  FrameInbox,
  GenerationService,
  HttpMetrics,
  JobFactory,
  JobPlacement,
  KvCapacity,
  KvRelease,
  LegPairs,
  Legs,
  LiveExchanges,
  ModelCatalog,
  Operator,
  OutputPlanner,
  Player,
  ProcessMetrics,
  QueueMetrics,
  RateLimits,
  ReaderWatch,
  Readiness,
  Replies,
  Recovery,
  Rehomer,
  RequestIntake,
  Resender,
  Resubmitter,
  ResponseAnswers,
  ResponseSockets,
  ResponsesService,
  ResponseMemory,
  ResponseStore,
  RoutePlanner,
  SloGate,
  Submitter,
  Viewers,
];

const CONTROLLERS = [
  BootstrapController,
  GenerateController,
  SglangController,
  ServerInfoController,
  GenerationController,
  MessagesController,
  ModelsController,
  LoadController,
  OpenApiController,
  PoolingController,
  ConversationsController,
  RenderController,
  ResponsesController,
  TimelinesController,
  TokenizeController,
  UiController,
  HealthController,
  MetricsController,
];

@Module({})
export class ApiModule {
  static forRoot(dependencies: ApiDependencies): DynamicModule {
    const { config, transport, logger, identity, routes, starter } = dependencies;
    return {
      module: ApiModule,
      imports: [LoggerModule.forRoot(accessLog(logger))],
      controllers: [
        ...CONTROLLERS,
        ...(config.enableAdmin ? [EnginesController, SettingsController] : []),
        ...(config.enableDevMode ? [DevController] : []),
        ...(config.enableDevMode || config.enableAdmin ? [BatchController] : []),
        ...(config.allowRuntimeLoraUpdating ? [AdaptersController] : []),
      ],
      providers: [
        ...PROVIDERS,
        ...OBSERVER_PROVIDERS,
        { provide: CONFIG, useValue: config },
        { provide: TRANSPORT, useValue: transport },
        loggerProvider(logger),
        { provide: API_IDENTITY, useValue: identity },
        { provide: KnownRoutes, useValue: routes },
        { provide: ROUTING, useFactory: () => routingOf(config, transport, identity) },
        { provide: Membership, useFactory: () => new Membership({ config, transport, starter }) },
        { provide: TextSetup, useFactory: () => TextSetup.open(config, logger) },
        { provide: LiveSettings, useFactory: () => settingsOf(config, transport, logger) },
        { provide: SequenceTable, useFactory: () => new SequenceTable() },
        { provide: LiveSequences, useExisting: SequenceTable },
        { provide: WaitingTotals, useExisting: AdmissionGate },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
    };
  }
}

/** Each part of the process logs under its own name: `frame-inbox` is FrameInbox. */
function loggerProvider(logger: Logger): Provider {
  const useFactory = (user: object | undefined): Logger =>
    user === undefined ? logger : moduleLogger(logger, kebab(user.constructor.name));
  return { provide: LOGGER, scope: Scope.TRANSIENT, inject: [INQUIRER], useFactory };
}

function kebab(className: string): string {
  return className.replace(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
}

function routingOf(config: BatonConfig, transport: Transport, identity: ApiIdentity): JobRouting {
  const wall = new SystemWallClock();
  return buildRouting({ config, transport, routerId: identity.apiId, role: 'api', wall });
}

function settingsOf(config: BatonConfig, transport: Transport, log: Logger): LiveSettings {
  const wall = new SystemWallClock();
  return new LiveSettings({ config, transport, log, nowUs: () => wall.nowUs() });
}

/** One line per answer at level debug, without headers and bodies; at other levels the middleware is not even there. */
function accessLog(logger: Logger): Parameters<typeof LoggerModule.forRoot>[0] {
  const isOn = logger.isLevelEnabled('debug');
  return {
    pinoHttp: {
      logger,
      useLevel: 'debug',
      quietReqLogger: true,
      genReqId: (message) => contextOf(message).requestId,
      serializers: {
        req: ({ method, url }: IncomingMessage) => ({ method, url }),
        res: ({ statusCode }: ServerResponse) => ({ statusCode }),
      },
      wrapSerializers: false,
    },
    forRoutes: isOn ? [{ path: '*path', method: RequestMethod.ALL }] : [],
  };
}
