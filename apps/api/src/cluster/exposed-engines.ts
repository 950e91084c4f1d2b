import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { BatonConfig } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import type { Logger } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { directTo } from '../http/request-context';
import { CONFIG, LOGGER } from '../tokens';
import { ClusterView } from './cluster-view';

export type RequestListener = (message: IncomingMessage, response: ServerResponse) => void;

/** Makes a server whose requests go to `listener`, with the limits and error answers of the cluster's own port. */
export type ServerFactory = (listener: RequestListener) => Server;

/** A port that stands for one engine; which one may change, since an index is used again. */
interface EnginePort {
  readonly server: Server;
  engineId: string;
}

/**
 * A port for each living engine, so that other people's routers can send it prefill and decode legs by themselves. Listeners come and go with the
 * engines' presence; all lead to the same handlers, with the engine noted on the request.
 */
@Injectable()
export class ExposedEngines {
  private readonly ports = new Map<number, EnginePort>();
  private readonly refused = new Set<number>();

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly cluster: ClusterView,
  ) {}

  /** @param route  the handlers of the cluster's own port */
  start(route: RequestListener, factory: ServerFactory = createServer): void {
    if (!this.config.exposeEngines) return;
    const sync = (engines: readonly EnginePresence[]): void => {
      const wanted = new Map(engines.map((engine) => [this.portOf(engine), engine]));
      this.closeAllBut(wanted);
      for (const [port, engine] of wanted) this.lead(port, engine, { route, factory });
    };
    this.cluster.onEngines(sync);
    sync(this.cluster.living());
  }

  stop(): void {
    this.closeAllBut(new Map());
  }

  private portOf(engine: EnginePresence): number {
    return this.config.exposeEnginesPort + engine.index;
  }

  private lead(port: number, engine: EnginePresence, { route, factory }: Handlers): void {
    const { engineId } = engine;
    const known = this.ports.get(port);
    if (known) {
      known.engineId = engineId;
      return;
    }
    const server = factory((message, response) => {
      directTo(message, enginePort.engineId);
      route(message, response);
    });
    const enginePort: EnginePort = { server, engineId };
    this.ports.set(port, enginePort);
    server.once('error', (error) => this.onRefused(port, error));
    server.listen(port, this.config.host, () => {
      this.refused.delete(port);
      this.logger.info({ port, engine: engineId, stage: engine.stage }, 'engine exposed');
    });
  }

  /** The next look at the cluster tries again; it is said once. */
  private onRefused(port: number, error: Error): void {
    this.ports.delete(port);
    if (!this.refused.has(port)) this.logger.warn({ err: error, port }, 'engine port not opened');
    this.refused.add(port);
  }

  private closeAllBut(wanted: ReadonlyMap<number, EnginePresence>): void {
    for (const [port, { server }] of this.ports) {
      if (wanted.has(port)) continue;
      this.ports.delete(port);
      server.close();
      server.closeIdleConnections();
    }
  }
}

interface Handlers {
  readonly route: RequestListener;
  readonly factory: ServerFactory;
}
