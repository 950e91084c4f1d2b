import type { Server } from 'node:http';
import type { EnginePresence } from '@baton/contract';
import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import type { RequestListener } from '../http/connections/request-pacing';
import { Listeners } from '../http/listeners';
import { directTo } from '../http/request-context';
import { ApiProcesses } from '../processes/api-processes';
import { Config, Log } from '../tokens';
import { ClusterView } from './cluster-view';

const GIVEN_UP =
  'an engine was silent for longer than exposed_port_grace; its port is closed until it is back';

/** The port of one engine. The engine may change, because indexes are reused. */
interface EnginePort {
  readonly server: Server;
  engineId: string;
  isLeaving: boolean;
  /** Awake ms at which the engine was first missing; undefined while it is present. */
  missedMs: number | undefined;
}

/**
 * A port for each engine, so that outside routers can send it prefill and decode legs directly. All
 * lead to the same handlers, with the engine noted on the request. The port of an engine that left
 * is closed. The port of a silent engine stays and answers 503 until the engine is back.
 */
@Injectable()
export class ExposedEngines implements OnModuleInit, BeforeApplicationShutdown {
  private readonly ports = new Map<number, EnginePort>();
  private readonly refused = new Set<number>();
  private isEnding = false;

  constructor(
    private readonly config: Config,
    private readonly logger: Log,
    private readonly cluster: ClusterView,
    private readonly listeners: Listeners,
    private readonly host: HttpAdapterHost,
    private readonly apiProcesses: ApiProcesses,
  ) {}

  /**
   * Opens the ports once the cluster's own is open, in one of several API processes: both legs of a
   * hand-over must reach the same process.
   */
  onModuleInit(): void {
    if (!this.config.exposeEngines || this.apiProcesses.place !== 0) return;
    this.host.listen$.subscribe(() => {
      const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
      this.open((message, response) => fastify.routing(message, response));
    });
  }

  beforeApplicationShutdown(): void {
    this.isEnding = true;
    this.closeAllBut(new Set());
  }

  /** @param route  the handlers of the cluster's own port */
  private open(route: RequestListener): void {
    const sync = (engines: readonly EnginePresence[]): void => {
      // The view of the cluster is still refreshed while the last requests end.
      if (this.isEnding) return;
      const wanted = new Map(engines.map((engine) => [this.portOf(engine), engine]));
      this.closeAllBut(new Set([...wanted.keys(), ...this.silentPorts(wanted)]));
      for (const [port, engine] of wanted) this.lead(port, engine, route);
    };
    this.cluster.onEngines(sync);
    sync(this.cluster.living());
  }

  private portOf(engine: EnginePresence): number {
    return this.config.exposeEnginesPort + engine.index;
  }

  private lead(port: number, engine: EnginePresence, route: RequestListener): void {
    const { engineId } = engine;
    const known = this.ports.get(port);
    const isLeaving = engine.state === 'draining';
    if (known) {
      if (known.missedMs !== undefined)
        this.logger.info({ port, engine: engine.name }, 'engine back');
      Object.assign(known, { engineId, isLeaving, missedMs: undefined });
      return;
    }
    const server = this.listeners.create((message, response) => {
      directTo(message, enginePort.engineId);
      route(message, response);
    });
    const enginePort: EnginePort = { server, engineId, isLeaving, missedMs: undefined };
    this.ports.set(port, enginePort);
    server.on('error', (error) => {
      if (!server.listening) this.onRefused(port, error);
    });
    server.listen(port, this.config.host, () => {
      this.refused.delete(port);
      this.logger.info({ port, engine: engine.name, stage: engine.stage }, 'engine exposed');
    });
  }

  /** Opens a missing port again at the next refresh of the cluster; the failure is logged once. */
  private onRefused(port: number, error: Error): void {
    this.ports.delete(port);
    if (!this.refused.has(port))
      this.logger.warn(
        { err: error, port },
        'opening the port of an engine failed; the next refresh retries',
      );
    this.refused.add(port);
  }

  /**
   * Ports of engines that are missing but have not left. Such an engine is late, or its process
   * ended and is about to be replaced.
   */
  private silentPorts(present: ReadonlyMap<number, EnginePresence>): number[] {
    const nowMs = this.cluster.awakeMs();
    const graceMs = this.config.exposedPortGrace * 1_000;
    const missing = [...this.ports].filter(([port]) => !present.has(port));
    for (const [port, each] of missing) {
      if (each.missedMs !== undefined || each.isLeaving) continue;
      each.missedMs = nowMs;
      this.logger.warn(
        { port, engine: this.cluster.nameOf(each.engineId) },
        'an engine is silent; its port answers 503',
      );
    }
    const stays = ({ missedMs, isLeaving }: EnginePort): boolean =>
      !isLeaving && missedMs !== undefined && nowMs - missedMs < graceMs;
    return missing.filter(([, each]) => stays(each)).map(([port]) => port);
  }

  private closeAllBut(wanted: ReadonlySet<number>): void {
    for (const [port, { server, engineId, missedMs }] of this.ports) {
      if (wanted.has(port)) continue;
      if (missedMs !== undefined)
        this.logger.warn({ port, engine: this.cluster.nameOf(engineId) }, GIVEN_UP);
      this.ports.delete(port);
      server.close();
      server.closeIdleConnections();
    }
  }
}
