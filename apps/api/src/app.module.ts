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
import { AccessGate } from './access/access-gate';
import { RateLimits } from './access/rate-limits';
import { AdapterRegistry } from './adapters/adapter-registry';
import { AdaptersController } from './adapters/adapters.controller';
import { EnginesController } from './admin/engines.controller';
import { AdmissionGate } from './admission/admission-gate';
import { SloGate } from './admission/slo-gate';
import { ApiLifecycle } from './api-lifecycle';
import { BootstrapController } from './cluster/bootstrap.controller';
import { ClusterView } from './cluster/cluster-view';
import { ExposedEngines } from './cluster/exposed-engines';
import { ModelCatalog } from './cluster/model-catalog';
import { ModelsController } from './cluster/models.controller';
import { Rehomer } from './cluster/rehomer';
import { ServerInfoController } from './cluster/server-info.controller';
import { ConversationStore } from './conversations/conversation-store';
import { ConversationsController } from './conversations/conversations.controller';
import { ConversationsService } from './conversations/conversations.service';
import { PoolingController } from './embeddings/pooling.controller';
import { Executions } from './executing/executions';
import { FaultInjector } from './faults/fault-injector';
import { FaultMetrics } from './faults/fault-metrics';
import { SettingsController } from './faults/settings.controller';
import { Dispatcher } from './generation/dispatcher';
import { ExchangeOpener } from './generation/exchange-opener';
import { GenerationController } from './generation/generation.controller';
import { GenerationService } from './generation/generation.service';
import { JobPlacement } from './generation/job-placement';
import { KvCapacity } from './generation/kv-capacity';
import { KvRelease } from './generation/kv-release';
import { LegPairs } from './generation/leg-pairs';
import { Legs } from './generation/legs';
import { LiveExchanges } from './generation/live-exchanges';
import { OutputPlanner } from './generation/output-planner';
import { RequestIntake } from './generation/request-intake';
import { RoutePlanner } from './generation/route-planner';
import { HealthController } from './health/health.controller';
import { Readiness } from './health/readiness';
import { ErrorFilter } from './http/error.filter';
import { KnownRoutes } from './http/known-routes';
import { contextOf } from './http/request-context';
import { MessagesController } from './messages/messages.controller';
import { EngineCensus } from './metrics/engine-census';
import { HttpMetrics } from './metrics/http-metrics';
import { MetricsController } from './metrics/metrics.controller';
import { PlacementMetrics } from './metrics/placement-metrics';
import { ProcessMetrics } from './metrics/process-metrics';
import { QueueMetrics } from './metrics/queue-metrics';
import { RequestMetrics } from './metrics/request-metrics';
import { OpenApiController } from './openapi/openapi.controller';
import { BatchController } from './operations/batch.controller';
import { DevController } from './operations/dev.controller';
import { LoadController } from './operations/load.controller';
import { Operator } from './operations/operator';
import { Player } from './playing/player';
import { RequestRecorder } from './recording/request-recorder';
import { WireTaps } from './recording/wire-taps';
import { Broadcasts } from './responses/broadcasts';
import { Cancellations } from './responses/cancellations';
import { ResponseAnswers } from './responses/response-answers';
import { ResponseMemory } from './responses/response-memory';
import { ResponseStore } from './responses/response-store';
import { ResponsesController } from './responses/responses.controller';
import { ResponsesService } from './responses/responses.service';
import { ResponseSockets } from './responses/socket/response-sockets';
import { Aborter } from './sequences/aborter';
import { FrameInbox } from './sequences/frame-inbox';
import { Recovery } from './sequences/recovery';
import { Resender } from './sequences/resender';
import { SequenceTable } from './sequences/sequence-table';
import { Submitter } from './sequences/submitter';
import { ReaderWatch } from './streaming/reader-watch';
import { Replies } from './text-models/replies';
import { TextSetup } from './text-models/text-setup';
import { Timelines } from './timelines/timelines';
import { TimelinesController } from './timelines/timelines.controller';
import { GenerateController } from './tokenize/generate.controller';
import { RenderController } from './tokenize/render.controller';
import { SglangController } from './tokenize/sglang.controller';
import { TokenizeController } from './tokenize/tokenize.controller';
import { API_IDENTITY, type ApiIdentity, CONFIG, LOGGER, ROUTING, TRANSPORT } from './tokens';
import { RequestSpans } from './tracing/request-spans';
import { ClusterPictures } from './ui/cluster-pictures';
import { RateMeter } from './ui/rate-meter';
import { UiController } from './ui/ui.controller';
import { Viewers } from './ui/viewers';

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
  ExchangeOpener,
  ExposedEngines,
  FaultInjector,
  FaultMetrics,
  FrameInbox,
  GenerationService,
  HttpMetrics,
  JobPlacement,
  KvCapacity,
  KvRelease,
  LegPairs,
  Legs,
  LiveExchanges,
  ModelCatalog,
  Operator,
  OutputPlanner,
  PlacementMetrics,
  Player,
  ProcessMetrics,
  QueueMetrics,
  RateLimits,
  RateMeter,
  ReaderWatch,
  Readiness,
  Replies,
  Recovery,
  Rehomer,
  RequestIntake,
  RequestMetrics,
  RequestRecorder,
  RequestSpans,
  Resender,
  ResponseAnswers,
  ResponseSockets,
  ResponsesService,
  ResponseMemory,
  ResponseStore,
  RoutePlanner,
  SloGate,
  Submitter,
  Timelines,
  Viewers,
  WireTaps,
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
