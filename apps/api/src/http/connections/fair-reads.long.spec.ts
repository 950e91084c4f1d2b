import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../../../test/raw-http';
import { FairReads } from './fair-reads';
import { RequestPacing } from './request-pacing';

/** Waiting requests that one turn may read. */
const MOST = 256;
/** Connections that are read again in each turn. */
const RELEASED = 64;

function read(reads: FairReads, count: number): void {
  for (let i = 0; i < count; i += 1) reads.count();
}

function socketsOf(reads: FairReads, count: number): Socket[] {
  const sockets = Array.from({ length: count }, () => new Socket());
  for (const socket of sockets) reads.watch(socket);
  return sockets;
}

const pausedIn = (sockets: readonly Socket[]): number[] =>
  sockets.flatMap((socket, i) => (socket.isPaused() ? [i] : []));

describe('fair reads', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  it('hold no connection while a turn reads less than its share', async () => {
    const reads = new FairReads();
    const sockets = socketsOf(reads, 3);
    for (let i = 0; i < 3; i += 1) {
      read(reads, MOST - 1);
      expect(pausedIn(sockets)).toEqual([]);
      await turn();
    }
  });

  it('hold all connections until the next turn, and release the oldest first', async () => {
    const reads = new FairReads();
    const sockets = socketsOf(reads, RELEASED + 2);
    read(reads, MOST);
    expect(pausedIn(sockets)).toHaveLength(RELEASED + 2);
    expect(reads.isHolding).toBe(true);
    await turn();
    expect(pausedIn(sockets)).toEqual([RELEASED, RELEASED + 1]);
    await turn();
    expect(pausedIn(sockets)).toEqual([]);
    expect(reads.isHolding).toBe(false);
  });

  it('leave a connection paused that was paused before', async () => {
    const reads = new FairReads();
    const sockets = socketsOf(reads, 2);
    sockets[0]!.pause();
    read(reads, MOST);
    await turn();
    expect(pausedIn(sockets)).toEqual([0]);
  });

  it('forget a connection that closes', async () => {
    const reads = new FairReads();
    const [socket] = socketsOf(reads, 1);
    const closed = once(socket!, 'close');
    read(reads, MOST);
    socket!.destroy();
    await closed;
    await turn();
    expect(reads.isHolding).toBe(false);
  });

  it('spread what many connections send at once over turns, and every request is answered', async () => {
    let inTurn = 0;
    let most = 0;
    const reads = new FairReads();
    const { pass } = new RequestPacing(({ url }, response) => response.end(url), reads);
    server = createServer((message, response) => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      inTurn += 1;
      most = Math.max(most, inTurn);
      pass(message, response);
    });
    server.on('connection', reads.watch).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const requests = Array.from({ length: 60 }, (_, i) => {
      return `GET /at-${i} HTTP/1.1\r\nhost: h\r\n${i === 59 ? 'connection: close\r\n' : ''}\r\n`;
    }).join('');
    const all = Array.from({ length: 100 }, () => exchange(port, requests));
    const paths = Array.from({ length: 60 }, (_, i) => `/at-${i}`);
    for (const answers of await Promise.all(all)) {
      expect([...answers.matchAll(/\/at-\d+/g)].map(([path]) => path)).toEqual(paths);
    }
    // The turn ends with the chunk that completes its share; each connection has begun one request.
    expect(most).toBeLessThan(MOST + 60 + 100);
  });
});
