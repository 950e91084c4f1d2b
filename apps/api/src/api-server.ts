import { randomUUID } from 'node:crypto';
import type { BatonConfig } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { type EngineStarter, LiveMembership } from '@baton/engine-host';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiModule } from './api.module';
import { CAN_SHARE_PORTS } from './http/connections/acceptors';
import { AdminKey } from './http/access/admin-key';
import { KnownRoutes } from './http/known-routes';
import { Listeners } from './http/listeners';
import { createAdapter } from './http/server';
import { ApiProcesses } from './processes/api-processes';
import { GENERATED_KEY_VARIABLE } from './processes/variables';

export interface ApiServerOptions {
  readonly config: BatonConfig;
  readonly transport: Transport;
  readonly log: Logger;
  /** Starts engines that an operator adds; without it none can be started. */
  readonly starter?: EngineStarter | undefined;
  /** The other API processes of this port; without it there are none. */
  readonly apiProcesses?: ApiProcesses;
}

/** A running front: its address, and the call that stops it. */
export class ApiServer {
  private constructor(
    readonly app: NestFastifyApplication,
    /** Lists the engines of the cluster and changes them. */
    readonly membership: LiveMembership,
    /** `http://host:port`, or with https. */
    readonly url: string,
    /** The admin key generated for this run; undefined when one is configured or none is needed. */
    readonly generatedAdminKey: string | undefined,
  ) {}

  /**
   * Resolves when the server listens; engines may still be missing (`/health/ready` names them).
   *
   * @throws UsageError when the certificate or a key file cannot be used
   */
  static async start(options: ApiServerOptions): Promise<ApiServer> {
    const { config, transport, log: logger, starter, apiProcesses = ApiProcesses.none() } = options;
    const identity = {
      apiId: `api-${randomUUID().slice(0, 12)}`,
      startedAt: Math.floor(Date.now() / 1_000),
    };
    const listeners = new Listeners(config, logger);
    const routes = new KnownRoutes();
    const adminKey = new AdminKey(config, process.env[GENERATED_KEY_VARIABLE]);
    const http = { logger, listeners, routes, adminKey };
    const membership = new LiveMembership({ config, transport, starter });
    const app = await NestFactory.create<NestFastifyApplication>(
      ApiModule.forRoot({ config, transport, identity, membership, apiProcesses, ...http }),
      createAdapter(config, { listeners, routes }),
      {
        bodyParser: false,
        logger: false,
        abortOnError: false,
        // The listeners create the server; this option only sets the scheme of the URL.
        ...(listeners.scheme === 'https' ? { httpsOptions: {} } : {}),
      },
    );
    const port = CAN_SHARE_PORTS && !apiProcesses.areThere ? await claimAlone(config) : config.port;
    const { host } = config;
    // Fastify passes every option on to Node; its types lack the last.
    const listening = { port, host, backlog: 4_096, reusePort: CAN_SHARE_PORTS };
    await app.listen(listening);
    if (CAN_SHARE_PORTS) listeners.share(app.getHttpServer());
    return new ApiServer(app, membership, await app.getUrl(), adminKey.generated);
  }

  /**
   * Drains, then closes every connection and timer. The transport stays open: the caller owns it.
   */
  stop(): Promise<void> {
    return this.app.close();
  }
}

/** Sockets that share a port would join another cluster that has it. */
async function claimAlone(config: BatonConfig): Promise<number> {
  // Loaded only for this, because its other parts are not needed here.
  const { claimPort } = await import('@baton/supervisor');
  return claimPort(config);
}
