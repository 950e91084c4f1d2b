import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BatonConfig } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnModuleInit,
  RequestMethod,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { LoggerModule } from 'nestjs-pino';
import { AdminKey } from './access/admin-key';
import { AdminGuard } from './access/admin.guard';
import { headCheck } from './access/head-check';
import { RateLimitGuard } from './access/rate-limit.guard';
import { RateLimits } from './access/rate-limits';
import { CallClasses } from './access/call-classes';
import { ErrorFilter } from './error.filter';
import { KnownRoutes } from './known-routes';
import { Listeners } from './listeners';
import { contextOf, pathOf } from './request-context';
import { CONFIG } from '../tokens';
import { ReaderWatch } from './streaming/reader-watch';

/** The parts that the server uses before Nest's application exists. */
export interface HttpDependencies {
  readonly logger: Logger;
  readonly listeners: Listeners;
  readonly routes: KnownRoutes;
  readonly adminKey: AdminKey;
}

/** The parts that apply to every request. */
@Global()
@Module({})
export class HttpModule implements OnModuleInit {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly host: HttpAdapterHost,
  ) {}

  /** Middleware stands already, so the access log has refused requests too. */
  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onRequest', headCheck(this.config));
  }

  static forRoot({ logger, listeners, routes, adminKey }: HttpDependencies): DynamicModule {
    return {
      module: HttpModule,
      imports: [LoggerModule.forRoot(accessLog(logger))],
      providers: [
        AdminGuard,
        CallClasses,
        RateLimitGuard,
        RateLimits,
        ReaderWatch,
        { provide: AdminKey, useValue: adminKey },
        { provide: KnownRoutes, useValue: routes },
        { provide: Listeners, useValue: listeners },
        ErrorFilter,
        { provide: APP_FILTER, useExisting: ErrorFilter },
        { provide: APP_GUARD, useExisting: AdminGuard },
        { provide: APP_GUARD, useExisting: RateLimitGuard },
      ],
      exports: [
        AdminGuard,
        CallClasses,
        ErrorFilter,
        KnownRoutes,
        Listeners,
        RateLimits,
        ReaderWatch,
      ],
    };
  }
}

/**
 * One line per answer at level debug, without headers and bodies; at other levels the middleware is
 * not installed.
 */
function accessLog(logger: Logger): Parameters<typeof LoggerModule.forRoot>[0] {
  const isOn = logger.isLevelEnabled('debug');
  return {
    pinoHttp: {
      logger,
      useLevel: 'debug',
      quietReqLogger: true,
      genReqId: (message) => contextOf(message).requestId,
      serializers: {
        // A query can have a key.
        req: ({ method, url }: IncomingMessage) => ({ method, url: pathOf(url) }),
        res: ({ statusCode }: ServerResponse) => ({ statusCode }),
      },
      wrapSerializers: false,
    },
    forRoutes: isOn ? [{ path: '*path', method: RequestMethod.ALL }] : [],
  };
}
