import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/**
 * When a connection ends, Node destroys each of its unanswered requests: with an error, its stack
 * trace and three events. For hundreds of requests that have not begun, this takes longer than to
 * read them. Nothing waits for their end.
 */
export function disableDestroy(message: IncomingMessage): void {
  message.destroy = ignoreDestroy;
}

/** Reverts `spareDestroy` for a request that begins. */
export function enableDestroy(message: IncomingMessage): void {
  message.destroy = IncomingMessage.prototype.destroy;
}

function ignoreDestroy(this: IncomingMessage): IncomingMessage {
  return this;
}

/** Omits the stack traces of the errors that Node creates when the connection ends. */
export function endWithoutTraces(socket: Socket): void {
  for (const event of ['end', 'close']) {
    let limit: number;
    socket.prependOnceListener(event, () => {
      limit = Error.stackTraceLimit;
      Error.stackTraceLimit = 0;
    });
    socket.once(event, () => (Error.stackTraceLimit = limit));
  }
}
