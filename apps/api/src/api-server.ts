import { randomUUID } from 'node:crypto';
import type { BatonConfig } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { EngineStarter } from '@baton/worker';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { ApiLifecycle } from './api-lifecycle';
import { ApiModule } from './api.module';
import { ExposedEngines } from './cluster/exposed-engines';
import { AccessGate } from './http/access/access-gate';
import { KnownRoutes } from './http/known-routes';
import { Listeners } from './http/listeners';
import { createAdapter } from './http/server';
import { HttpMetrics } from './observers/metrics/http-metrics';

export interface ApiServerOptions {
  readonly config: BatonConfig;
  readonly transport: Transport;
  readonly log: Logger;
  /** Who starts engines that are to join; unset: nobody. */
  readonly starter?: EngineStarter | undefined;
}

/** A running front: where it listens, and how to end it. */
export class ApiServer {
  private constructor(
    readonly app: NestFastifyApplication,
    private readonly lifecycle: ApiLifecycle,
    private readonly listeners: Listeners,
    /** `http://host:port`, or with https. */
    readonly url: string,
  ) {}

  /** Resolves when it listens; engines may still be missing, which `/health/ready` says. @throws UsageError when its certificate cannot be used */
  static async start(options: ApiServerOptions): Promise<ApiServer> {
    const { config, transport, log, starter } = options;
    const identity = {
      apiId: `api-${randomUUID().slice(0, 12)}`,
      startedAt: Math.floor(Date.now() / 1_000),
    };
    const listeners = new Listeners(config, log);
    const routes = new KnownRoutes();
    const module = ApiModule.forRoot({
      config,
      transport,
      logger: log,
      identity,
      routes,
      starter,
    });
    const app = await NestFactory.create<NestFastifyApplication>(
      module,
      createAdapter(config, { listeners, routes }),
      // The option for HTTPS does no more than name the URL: the listeners make the server.
      {
        bodyParser: false,
        logger: false,
        abortOnError: false,
        ...(listeners.scheme === 'https' ? { httpsOptions: {} } : {}),
      },
    );
    const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
    countAnswers(fastify, app.get(HttpMetrics));
    app.get(AccessGate).install(fastify);
    const lifecycle = app.get(ApiLifecycle);
    await lifecycle.start();
    await app.listen({ port: config.port, host: config.host, backlog: 4_096 });
    app.get(ExposedEngines).start(
      (message, response) => fastify.routing(message, response),
      (listener) => listeners.create(listener),
    );
    return new ApiServer(app, lifecycle, listeners, await app.getUrl());
  }

  /** Drains, then closes every connection and timer. The transport stays open: it is the caller's. */
  async stop(): Promise<void> {
    await this.lifecycle.drain();
    await this.lifecycle.stop();
    this.listeners.stop();
    await this.app.close();
  }
}

function countAnswers(fastify: FastifyInstance, metrics: HttpMetrics): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    metrics.observe(request.raw, reply.raw, request.routeOptions.url ?? 'none');
    done();
  });
}
