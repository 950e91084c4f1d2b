import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { BatonError } from '@baton/contract';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusals } from '../../../request/refusals';
import { RequestWay } from '../../../request/way';
import { Config, Log } from '../../../tokens';
import { ResponseReader } from '../response-reader';
import { ResponsesService } from '../responses.service';
import { servePlainly } from './plain-request';
import type { ResponseSockets, Upgrade } from './response-sockets';

const PATH = /^\/v1\/responses\/?(\?|$)/;

/**
 * Requests to become a WebSocket at `/v1/responses`. Such a request passes keys, limits and metrics
 * like every request, and its controller makes it a WebSocket; a refusal before that is an HTTP
 * answer. The server of WebSockets is loaded with the first of them.
 */
@Injectable()
export class ResponseUpgrades implements BeforeApplicationShutdown, OnApplicationBootstrap {
  private readonly upgrades = new WeakMap<IncomingMessage, Upgrade>();
  private sockets: Promise<ResponseSockets> | undefined;

  constructor(
    private readonly config: Config,
    private readonly host: HttpAdapterHost,
    private readonly reader: ResponseReader,
    private readonly responses: ResponsesService,
    private readonly generation: RequestWay,
    private readonly refusals: Refusals,
    private readonly logger: Log,
  ) {}

  onApplicationBootstrap(): void {
    const { httpAdapter } = this.host;
    const server = httpAdapter.getHttpServer() as Server;
    const fastify = httpAdapter.getInstance<FastifyInstance>();
    server.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
      const upgrade = { socket, head };
      if (message.headers.upgrade?.toLowerCase() !== 'websocket' || !PATH.test(message.url ?? '')) {
        servePlainly(server, message, upgrade);
        return;
      }
      this.upgrades.set(message, upgrade);
      fastify.routing(message, responseOn(socket, message));
    });
  }

  /** Runs before the server closes, which waits for its connections. */
  async beforeApplicationShutdown(): Promise<void> {
    (await this.sockets)?.close();
  }

  /**
   * Turns the request's connection into a WebSocket. Throws when the request does not offer an
   * upgrade, or when there are too many WebSockets.
   */
  async accept(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const upgrade = this.upgrades.get(request.raw);
    if (upgrade === undefined) throw new BatonError('method_not_allowed');
    this.sockets ??= this.open().catch((error: unknown) => {
      // The next upgrade tries again.
      this.sockets = undefined;
      throw error;
    });
    (await this.sockets).accept(upgrade, request, reply);
  }

  private async open(): Promise<ResponseSockets> {
    const loaded = await import('./response-sockets');
    const { reader, responses, generation, refusals, logger } = this;
    const services = { reader, responses, generation, refusals, logger };
    return new loaded.ResponseSockets(this.config, services);
  }
}

/**
 * A response to a request whose connection the server has released. It ends the connection, unless
 * a listener takes it over.
 */
function responseOn(socket: Socket, message: IncomingMessage): ServerResponse {
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.end();
    response.emit('close');
  });
  socket.on('error', () => socket.destroy());
  return response;
}
