import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { noteArrival } from './arrivals';
import type { FairReads } from './fair-reads';
import { enableDestroy, endWithoutTraces, disableDestroy } from './waiting-requests';

export type RequestListener = (message: IncomingMessage, response: ServerResponse) => void;

/** Requests that begin in one turn of the event loop: they need some 5 ms on a slow core. */
const MOST_PER_TURN = 8;
/** The same while connections wait to be read: a probe may be among their requests. */
const MOST_WHILE_READING = 4;
/**
 * One more begins per so many writes to streams in the turn before. They make turns long, some
 * 20 µs each, and requests keep their pace beside them.
 */
const WRITES_PER_REQUEST = 64;
/** The number of writes to all streams so far. */
export const streamWrites = { count: 0 };
/** Requests of one connection that wait for the answers before them; one more closes it. */
const MOST_PIPELINED = 64;
/** The end of a connection takes as long as reading this many waiting requests. */
const END = 32;
/**
 * Path of probes: a load balancer removes a process whose probes wait behind thousands of requests.
 */
const PROBE = '/health';
/** The expectation that Node's server handles itself. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/**
 * Begins a few requests in each turn of the event loop, probes first, so that requests that arrive
 * together do not hold it. A request of a connection begins when the one before it is answered.
 */
export class RequestPacing {
  private readonly queue: (() => void)[] = [];
  private readonly pipelined = new WeakMap<Socket, number>();
  private inTurn = 0;
  /** Writes to streams before the turn, or before its first request. */
  private writesBefore = 0;

  constructor(
    private readonly listener: RequestListener,
    private readonly reads: FairReads,
  ) {}

  readonly pass: RequestListener = (message, response) => {
    // A response has no socket before those of earlier requests are over.
    if (response.socket === null) {
      this.pipeline(message, response);
      return;
    }
    if (this.inTurn === 0) {
      setImmediate(this.nextTurn);
      this.writesBefore = streamWrites.count;
    }
    this.inTurn += 1;
    if (this.inTurn <= MOST_PER_TURN) {
      this.listener(message, response);
      return;
    }
    noteArrival(message);
    const begin = (): void => {
      if (!message.destroyed) this.listener(message, response);
    };
    if (message.url?.startsWith(PROBE) === true) this.queue.unshift(begin);
    else this.queue.push(begin);
  };

  private readonly nextTurn = (): void => {
    const writes = streamWrites.count - this.writesBefore;
    this.writesBefore = streamWrites.count;
    const most = this.reads.isHolding ? MOST_WHILE_READING : MOST_PER_TURN;
    const next = this.queue.splice(0, most + Math.floor(writes / WRITES_PER_REQUEST));
    this.inTurn = next.length;
    if (next.length > 0) setImmediate(this.nextTurn);
    for (const begin of next) begin();
  };

  private pipeline(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    this.reads.count();
    if (socket.destroyed) return;
    disableDestroy(message);
    const waiting = this.pipelined.get(socket);
    if (waiting === undefined) this.expectEnd(socket);
    if (waiting === MOST_PIPELINED) {
      socket.destroy();
      return;
    }
    noteArrival(message);
    this.pipelined.set(socket, (waiting ?? 0) + 1);
    response.once('socket', () => {
      this.pipelined.set(socket, (this.pipelined.get(socket) ?? 0) - 1);
      enableDestroy(message);
      this.pass(message, response);
    });
  }

  /** Connections that end together end in several turns. */
  private expectEnd(socket: Socket): void {
    endWithoutTraces(socket);
    const countWaiting = (): void => this.reads.count(END + (this.pipelined.get(socket) ?? 0));
    socket.once('end', countWaiting).once('error', countWaiting);
  }
}

/**
 * Refuses requests without `Host` and with an unknown expectation as Node's server does: 400 and
 * 417. Node's server would refuse all of a chunk in one turn of the event loop, before it calls a
 * listener.
 */
export function withStrictHeads(listener: RequestListener): RequestListener {
  return (message, response) => {
    const { host, expect } = message.headers;
    if (host === undefined && message.httpVersion === '1.1') {
      response.writeHead(400, { connection: 'close' }).end();
    } else if (expect !== undefined && !CONTINUE.test(expect)) {
      response.writeHead(417).end();
    } else {
      listener(message, response);
    }
  };
}

/**
 * Classes for the requests of a server. Node's parser finishes a chunk of bytes though the
 * connection has been closed, and makes two objects for each of up to 3,600 requests in it. Those
 * that come after the end share one request and one response, which ignore everything.
 */
export class ConnectionRequest extends IncomingMessage {
  constructor(socket: Socket) {
    if (socket.destroyed) return DISCARDED_REQUEST;
    super(socket);
  }
}

export class ConnectionResponse extends ServerResponse<IncomingMessage> {
  constructor(...args: ConstructorParameters<typeof ServerResponse<IncomingMessage>>) {
    if (args[0] === DISCARDED_REQUEST) return DISCARDED_RESPONSE;
    super(...args);
  }
}

const DISCARDED_REQUEST = new IncomingMessage(new Socket().destroy());
const DISCARDED_RESPONSE = new ServerResponse(DISCARDED_REQUEST);

Object.assign(DISCARDED_REQUEST, {
  destroy: () => DISCARDED_REQUEST,
  push: () => false,
});
// Node keeps the headers that it has parsed once.
Object.defineProperty(DISCARDED_REQUEST, 'headers', { value: {} });
Object.assign(DISCARDED_RESPONSE, {
  on: () => DISCARDED_RESPONSE,
  assignSocket: () => undefined,
});
