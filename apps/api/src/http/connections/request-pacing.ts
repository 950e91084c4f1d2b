import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { noteArrival } from './arrivals';

export type RequestListener = (message: IncomingMessage, response: ServerResponse) => void;

/** Requests that begin in one turn of the event loop: they need some 5 ms. */
const MOST_PER_TURN = 32;
/** Requests of one connection that wait for the answers before them; one more closes it. */
const MOST_PIPELINED = 64;
/**
 * Path of probes: a load balancer removes a process whose probes wait behind thousands of requests.
 */
const PROBE = '/health';

/**
 * Begins some requests in each turn of the event loop, probes first, so that requests that arrive
 * together do not hold it. A request of a connection begins when the one before it is answered.
 */
export class RequestPacing {
  private readonly queue: (() => void)[] = [];
  private readonly pipelined = new WeakMap<Socket, number>();
  private inTurn = 0;

  constructor(private readonly listener: RequestListener) {}

  readonly pass: RequestListener = (message, response) => {
    // A response has no socket before those of earlier requests are over.
    if (response.socket === null) {
      this.pipeline(message, response);
      return;
    }
    if (this.inTurn === 0) setImmediate(this.nextTurn);
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
    const next = this.queue.splice(0, MOST_PER_TURN);
    this.inTurn = next.length;
    if (next.length > 0) setImmediate(this.nextTurn);
    for (const begin of next) begin();
  };

  private pipeline(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    const waiting = this.pipelined.get(socket) ?? 0;
    if (waiting === MOST_PIPELINED) {
      socket.destroy();
      return;
    }
    noteArrival(message);
    this.pipelined.set(socket, waiting + 1);
    response.once('socket', () => {
      this.pipelined.set(socket, (this.pipelined.get(socket) ?? 0) - 1);
      this.pass(message, response);
    });
  }
}
