import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange, parseAnswer } from '../../../test/raw-http';
import { withStrictHeads } from './request-pacing';

const HEADS = [
  ['GET / HTTP/1.1', []],
  ['GET / HTTP/1.0', []],
  ['GET / HTTP/1.1', ['host:']],
  ['GET / HTTP/1.1', ['host: h']],
  ['GET / HTTP/1.1', ['host: h', 'expect: miracles']],
  ['GET / HTTP/1.1', ['expect: miracles']],
  ['POST / HTTP/1.1', ['host: h', 'expect: 100-continue', 'content-length: 0']],
  ['POST / HTTP/1.1', ['host: h', 'expect: x, 100-Continue', 'content-length: 0']],
] as const;

describe('strict heads', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function statusOf(made: Server, request: string): Promise<number> {
    server = made.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answer = await exchange(port, request);
    const last = answer.replace('HTTP/1.1 100 Continue\r\n\r\n', '');
    return parseAnswer(last).status;
  }

  it.each(HEADS)("are judged as by Node's server: %s %j", async (line, headers) => {
    const close = headers.length > 0 ? ['connection: close'] : [];
    const request = [line, ...headers, ...close, '\r\n'].join('\r\n');
    const listener = withStrictHeads((_, response) => response.end('{}'));
    const ours = createServer({ requireHostHeader: false }, listener);
    ours.on('checkExpectation', listener);
    const theirs = createServer((_, response) => response.end('{}'));
    const expected = await statusOf(theirs, request);
    theirs.close();
    expect(await statusOf(ours, request)).toBe(expected);
  });
});
