import type { RequestListener } from './turnstile';

/** The expectation that Node's server meets itself. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

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
