import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '@baton/telemetry';
import { Module, type OnModuleInit, RequestMethod } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { LoggerModule, type Params } from 'nestjs-pino';
import { AdminGuard } from './access/admin.guard';
import { headCheck } from './access/head-check';
import { RateLimitGuard } from './access/rate-limit.guard';
import { RateLimits } from './access/rate-limits';
import { CallClasses } from './access/call-classes';
import { ErrorFilter } from './error.filter';
import { pathOf } from './request-context';
import { Config, Log } from '../tokens';
import { ReaderWatch } from './streaming/reader-watch';

type RoutedMessage = IncomingMessage & { readonly originalUrl?: string };

/** The parts that apply to every request. */
@Module({
  imports: [LoggerModule.forRootAsync({ inject: [Log], useFactory: accessLog })],
  providers: [
    AdminGuard,
    CallClasses,
    ErrorFilter,
    RateLimitGuard,
    RateLimits,
    ReaderWatch,
    { provide: APP_FILTER, useExisting: ErrorFilter },
    { provide: APP_GUARD, useExisting: AdminGuard },
    { provide: APP_GUARD, useExisting: RateLimitGuard },
  ],
  exports: [AdminGuard, CallClasses, ErrorFilter, RateLimits, ReaderWatch],
})
export class HttpModule implements OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly host: HttpAdapterHost,
  ) {}

  /** Middleware stands already, so the access log has refused requests too. */
  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onRequest', headCheck(this.config));
  }
}

/**
 * One line per answer at level debug, without headers and bodies; at other levels the middleware is
 * not installed.
 */
function accessLog(logger: Logger): Params {
  const isOn = logger.isLevelEnabled('debug');
  return {
    pinoHttp: {
      logger,
      useLevel: 'debug',
      quietReqLogger: true,
      serializers: {
        // A query can have a key. Within a middleware `url` lacks what its route has matched.
        req: ({ method, url, originalUrl = url }: RoutedMessage) => ({
          method,
          url: pathOf(originalUrl),
        }),
        res: ({ statusCode }: ServerResponse) => ({ statusCode }),
      },
      wrapSerializers: false,
    },
    forRoutes: isOn ? [{ path: '*path', method: RequestMethod.ALL }] : [],
  };
}
