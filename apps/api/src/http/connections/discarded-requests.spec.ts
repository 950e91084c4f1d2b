import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../../../test/raw-http';
import { ConnectionRequest, ConnectionResponse } from './request-pacing';

const CLASSES = { IncomingMessage: ConnectionRequest, ServerResponse: ConnectionResponse };
const HEAD = 'POST /at HTTP/1.1\r\nhost: h\r\n';
const CHUNKS = `${HEAD}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;

describe('requests behind the end of their connection', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  it.each([
    ['without a body', `${HEAD}content-length: 0\r\n\r\n`],
    ['with a body', `${HEAD}content-length: 3\r\n\r\nabc`],
    ['with pieces of a body', CHUNKS],
    ['with an expectation', `${HEAD}expect: 100-continue\r\ncontent-length: 0\r\n\r\n`],
    ['without a host', 'GET /at HTTP/1.1\r\n\r\n'],
  ])('are one object, and leave nothing behind: %s', async (_, request) => {
    const seen = new Set<IncomingMessage>();
    const bodies: string[] = [];
    let calls = 0;
    server = createServer({ ...CLASSES, requireHostHeader: false }, (message, response) => {
      calls += 1;
      seen.add(message);
      if (message.url === '/at') return void (calls === 9 && message.socket.destroy());
      message.setEncoding('utf8').on('data', (data: string) => bodies.push(data));
      message.on('end', () => response.end(`${message.method} ${bodies.join()}`));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await exchange(port, request.repeat(300))).not.toContain(' 200 ');
    expect(calls).toBe(300);
    expect(seen.size).toBe(10);
    const next = 'POST /next HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nok';
    expect(await exchange(port, next, (text) => text.includes('ok'))).toContain('POST ok');
  });
});
