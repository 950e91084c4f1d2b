import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '@baton/telemetry';
import { type DynamicModule, Global, Module, RequestMethod } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import { AccessGuard } from './access/access.guard';
import { AdminKey } from './access/admin-key';
import { AdminGuard } from './access/admin.guard';
import { EarlyGuards } from './access/early-guards';
import { RateLimitGuard } from './access/rate-limit.guard';
import { RateLimits } from './access/rate-limits';
import { CallClasses } from './access/call-classes';
import { ErrorFilter } from './error.filter';
import { KnownRoutes } from './known-routes';
import { Listeners } from './listeners';
import { contextOf } from './request-context';
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
export class HttpModule {
  static forRoot({ logger, listeners, routes, adminKey }: HttpDependencies): DynamicModule {
    return {
      module: HttpModule,
      imports: [LoggerModule.forRoot(accessLog(logger))],
      providers: [
        AccessGuard,
        AdminGuard,
        CallClasses,
        EarlyGuards,
        RateLimitGuard,
        RateLimits,
        ReaderWatch,
        { provide: AdminKey, useValue: adminKey },
        { provide: KnownRoutes, useValue: routes },
        { provide: Listeners, useValue: listeners },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
      exports: [AdminGuard, CallClasses, KnownRoutes, Listeners, RateLimits, ReaderWatch],
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
        req: ({ method, url }: IncomingMessage) => ({ method, url }),
        res: ({ statusCode }: ServerResponse) => ({ statusCode }),
      },
      wrapSerializers: false,
    },
    forRoutes: isOn ? [{ path: '*path', method: RequestMethod.ALL }] : [],
  };
}
