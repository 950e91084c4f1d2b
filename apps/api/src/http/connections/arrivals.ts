import type { IncomingMessage, Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { wallUsOf } from '@baton/clock';
import { BucketCounts, OVERHEAD_SECONDS } from '@baton/telemetry';

interface FreshConnection {
  readonly acceptedUs: number;
  readonly waits: BucketCounts;
}

/** Connections accepted in this turn or the last one that have sent no request yet. */
const fresh = new WeakMap<Socket, FreshConnection>();

const noted = new WeakMap<IncomingMessage, number>();

/** Records the arrival time of a request that is handled later. */
export function noteArrival(message: IncomingMessage): void {
  noted.set(message, takeArrivalUs(message));
}

/**
 * When a request arrived, µs since the Unix epoch. A request that came with its connection is read
 * in the next turn of the event loop, so its time begins at the accept. The time of any other
 * request begins when its headers are read.
 */
export function takeArrivalUs(message: IncomingMessage): number {
  const notedUs = noted.get(message);
  if (notedUs !== undefined) return notedUs;
  const { socket } = message;
  const nowUs = wallUsOf();
  const connection = fresh.get(socket);
  if (connection === undefined) return nowUs;
  fresh.delete(socket);
  connection.waits.observe((nowUs - connection.acceptedUs) / 1e6);
  return connection.acceptedUs;
}

/** False for a connection whose first request is parsed anew, as a plain one. */
export function isNew(socket: Socket): boolean {
  return socket.bytesRead === 0;
}

/** The connections that come to the servers of this process. */
export class NewConnections {
  /** Connections accepted so far. */
  accepted = 0;
  /** Seconds from the accept of a connection until the request that came with it is handled. */
  readonly waits = new BucketCounts(OVERHEAD_SECONDS);

  watch(server: Server | SecureServer): void {
    server.on('connection', (socket: Socket) => {
      if (!isNew(socket)) return;
      this.accepted += 1;
      fresh.set(socket, { acceptedUs: wallUsOf(), waits: this.waits });
      // Data that has already come is read in the turn after the accept.
      setImmediate(() => setImmediate(() => fresh.delete(socket)));
    });
  }
}
