import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

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
