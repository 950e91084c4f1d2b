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
import { WebSocketServer } from 'ws';
import { Refusals } from '../../../request/refusals';
import { RequestWay } from '../../../request/way';
import { Config } from '../../../tokens';
import { ResponseReader } from '../response-reader';
import { ResponsesService } from '../responses.service';
import { servePlainly } from './plain-request';
import { ResponseSocket } from './response-socket';

const PATH = /^\/v1\/responses\/?(\?|$)/;
const GOING_AWAY = 1001;
/** A message is unmasked byte by byte on the event loop: so many take 10 ms on a slow core. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** A connection that offers to become a WebSocket. */
interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

/**
 * WebSockets at `/v1/responses`. A request for one passes keys, limits and metrics like every
 * request, and its controller makes it a WebSocket; a refusal before that is an HTTP answer.
 */
@Injectable()
export class ResponseSockets implements BeforeApplicationShutdown, OnApplicationBootstrap {
  private readonly upgrades = new WeakMap<IncomingMessage, Upgrade>();
  private readonly server: WebSocketServer;

  constructor(
    private readonly config: Config,
    private readonly host: HttpAdapterHost,
    private readonly reader: ResponseReader,
    private readonly responses: ResponsesService,
    private readonly generation: RequestWay,
    private readonly refusals: Refusals,
  ) {
    this.server = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: Math.min(MAX_MESSAGE_BYTES, Math.floor(config.maxRequestBodyMb * 1024 * 1024)),
      // One message of a connection in each turn of the event loop.
      allowSynchronousEvents: false,
    });
  }

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
  beforeApplicationShutdown(): void {
    for (const client of this.server.clients) {
      client.close(GOING_AWAY);
      client.terminate();
    }
  }

  /**
   * Turns the request's connection into a WebSocket. Throws when the request does not offer an
   * upgrade, or when there are too many WebSockets.
   */
  accept(request: FastifyRequest, reply: FastifyReply): void {
    const upgrade = this.upgrades.get(request.raw);
    if (upgrade === undefined) throw new BatonError('method_not_allowed');
    if (this.server.clients.size >= this.config.maxWebsockets) throw new BatonError('queue_full');
    reply.hijack();
    const { socket, head } = upgrade;
    reply.raw.detachSocket(socket);
    this.server.handleUpgrade(request.raw, socket, head, (client) => {
      reply.raw.statusCode = 101;
      client.once('close', () => reply.raw.emit('close'));
      const received = { body: undefined, request, reply };
      const { reader, responses, generation, refusals } = this;
      const services = { reader, responses, generation, refusals };
      new ResponseSocket(client, received, services).listen();
    });
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
