import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../../../test/raw-http';
import { RequestPacing } from './request-pacing';

/** The first request, and as many after it as may wait. */
const COUNT = 65;

describe('request pacing', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  /** Passes as many requests as given, each of its own connection, in one turn. */
  function sendAll(count: number, { pass }: RequestPacing): IncomingMessage[] {
    const sent = Array.from({ length: count }, () => new IncomingMessage(new Socket()));
    for (const message of sent) {
      const response = new ServerResponse(message);
      response.assignSocket(message.socket);
      pass(message, response);
    }
    return sent;
  }

  it('lets a few of the requests in that come together, and more in each turn', async () => {
    const begun: IncomingMessage[] = [];
    const pacing = new RequestPacing((message) => begun.push(message));
    const sent = sendAll(100, pacing);
    const counts = [begun.length];
    for (let i = 0; i < 5; i += 1) {
      if (i === 0) sent[99]!.destroy();
      await turn();
      counts.push(begun.length);
    }
    expect(counts).toEqual([32, 64, 96, 99, 99, 99]);
    expect(begun).toEqual(sent.slice(0, 99));
  });

  it('lets a probe in before the requests that wait', async () => {
    const begun: (string | undefined)[] = [];
    const { pass } = new RequestPacing(({ url }) => begun.push(url));
    for (const url of [...Array<string>(80).fill('/v1/models'), '/health']) {
      const message = Object.assign(new IncomingMessage(new Socket()), { url });
      const response = new ServerResponse(message);
      response.assignSocket(message.socket);
      pass(message, response);
    }
    await turn();
    expect(begun.indexOf('/health')).toBe(32);
  });

  it('takes what comes over one connection one after the other', async () => {
    let open = 0;
    let most = 0;
    const { pass } = new RequestPacing((message, response) => {
      most = Math.max(most, (open += 1));
      setImmediate(() => {
        open -= 1;
        response.end(message.url);
      });
    });
    server = createServer(pass).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const requests = (count: number): string =>
      Array.from({ length: count }, (_, i) => {
        const close = i === COUNT - 1 && count === COUNT ? 'connection: close\r\n' : '';
        return `GET /at-${i} HTTP/1.1\r\nhost: h\r\n${close}\r\n`;
      }).join('');
    const answers = await exchange(port, requests(COUNT));
    const paths = [...answers.matchAll(/\/at-\d+/g)].map(([path]) => path);
    expect(paths).toEqual(Array.from({ length: COUNT }, (_, i) => `/at-${i}`));
    expect(most).toBe(1);
    expect(await exchange(port, requests(COUNT + 1))).toBe('');
  });
});
