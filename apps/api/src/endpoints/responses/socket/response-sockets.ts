import type { Socket } from 'node:net';
import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer } from 'ws';
import { ResponseSocket, type SocketServices } from './response-socket';

const GOING_AWAY = 1001;
/** A message is unmasked byte by byte on the event loop: so many take 10 ms on a slow core. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** A connection that offers to become a WebSocket. */
export interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

/** The WebSockets of this process. */
export class ResponseSockets {
  private readonly server: WebSocketServer;

  constructor(
    private readonly config: BatonConfig,
    private readonly services: SocketServices,
  ) {
    this.server = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: Math.min(MAX_MESSAGE_BYTES, Math.floor(config.maxRequestBodyMb * 1024 * 1024)),
      // One message of a connection in each turn of the event loop.
      allowSynchronousEvents: false,
    });
  }

  /** @throws BatonError `too_many_websockets` */
  accept({ socket, head }: Upgrade, request: FastifyRequest, reply: FastifyReply): void {
    if (this.server.clients.size >= this.config.maxWebsockets) {
      throw new BatonError('too_many_websockets');
    }
    reply.hijack();
    reply.raw.detachSocket(socket);
    this.server.handleUpgrade(request.raw, socket, head, (client) => {
      reply.raw.statusCode = 101;
      client.once('close', () => reply.raw.emit('close'));
      new ResponseSocket(client, { body: undefined, request, reply }, this.services).listen();
    });
  }

  close(): void {
    for (const client of this.server.clients) {
      client.close(GOING_AWAY);
      client.terminate();
    }
  }
}
