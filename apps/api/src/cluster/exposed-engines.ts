import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { EnginePresence } from '@baton/contract';
import type { BatonConfig, Logger } from '@baton/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { directTo } from '../http/request-context';
import { CONFIG, LOGGER } from '../tokens';
import { ClusterView } from './cluster-view';

export type RequestListener = (message: IncomingMessage, response: ServerResponse) => void;

/** Makes a server whose requests go to `listener`, with the limits and error answers of the cluster's own port. */
export type ServerFactory = (listener: RequestListener) => Server;

/**
 * A port for each living engine, so that other people's routers can send it prefill and decode legs by themselves. Listeners come and go with the
 * engines' presence; all lead to the same handlers, with the engine noted on the request.
 */
@Injectable()
export class ExposedEngines {
  private readonly servers = new Map<string, Server>();

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly cluster: ClusterView,
  ) {}

  /** @param route  the handlers of the cluster's own port */
  start(route: RequestListener, factory: ServerFactory = createServer): void {
    if (!this.config.exposeEngines) return;
    const sync = (engines: readonly EnginePresence[]): void => {
      // First, so that a port is free for the engine that has the index now.
      this.closeAllBut(engines);
      this.open(engines, route, factory);
    };
    this.cluster.onEngines(sync);
    sync(this.cluster.living());
  }

  portOf(engine: EnginePresence): number {
    return this.config.exposeEnginesPort + engine.index;
  }

  stop(): void {
    this.closeAllBut([]);
  }

  private open(
    engines: readonly EnginePresence[],
    route: RequestListener,
    factory: ServerFactory,
  ): void {
    for (const engine of engines) {
      if (this.servers.has(engine.engineId)) continue;
      const server = factory((message, response) => {
        directTo(message, engine.engineId);
        route(message, response);
      });
      this.servers.set(engine.engineId, server);
      this.listen(server, engine);
    }
  }

  private listen(server: Server, engine: EnginePresence): void {
    const port = this.portOf(engine);
    server.once('error', (error) => {
      // The next look at the cluster tries again; a predecessor with this index may still hold the port.
      this.servers.delete(engine.engineId);
      this.logger.warn({ err: error, port, engine: engine.engineId }, 'engine port not opened');
    });
    server.listen(port, this.config.host, () => {
      this.logger.info({ port, engine: engine.engineId, stage: engine.stage }, 'engine exposed');
    });
  }

  private closeAllBut(engines: readonly EnginePresence[]): void {
    const living = new Set(engines.map((engine) => engine.engineId));
    for (const [engineId, server] of this.servers) {
      if (living.has(engineId)) continue;
      this.servers.delete(engineId);
      server.close();
      server.closeIdleConnections();
    }
  }
}
