import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lazyReader } from '../../../test/raw-http';
import { until } from '../../../test/until';
import { EventStream, unsentBytes } from './event-stream';
import { PacedStream } from './paced-stream';

const MIB = 1024 * 1024;
/** Three of them are long. */
const EVENTS = Array.from({ length: 60 }, (_, i) => {
  const length = i % 20 === 19 ? 2 * MIB : 1_000 * (i + 1);
  return `data: ${String(i).repeat(length).slice(0, length)}\n\n`;
});

describe('a paced stream', () => {
  let server: Server;
  let url: string;
  let response: ServerResponse | undefined;
  let act: (stream: EventStream) => void;
  const unsent = (): number => (response === undefined ? 0 : unsentBytes(response));
  beforeEach(async () => {
    response = undefined;
    server = createServer((_request, answering) => {
      response = answering;
      const stream = new EventStream(answering);
      stream.open({});
      act(stream);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends all, in order, and no faster than the client reads', async () => {
    let most = 0;
    act = (stream) => {
      const paced = new PacedStream(stream);
      paced.write(EVENTS.slice(0, 30).join(''));
      for (const event of EVENTS.slice(30)) paced.write(event);
      paced.endStream();
      const look = setInterval(() => (most = Math.max(most, unsent())), 1);
      response!.once('close', () => clearInterval(look));
    };
    const answer = await fetch(url);
    expect(await answer.text()).toBe(EVENTS.join(''));
    // One write above the bound of a client that reads.
    expect(most).toBeLessThan(1.75 * MIB);
  });

  it('ends with a client that leaves', async () => {
    act = (stream) => {
      const paced = new PacedStream(stream);
      // More than the system takes for a client that does not read.
      for (let i = 0; i < 4; i += 1) paced.write(EVENTS.join(''));
    };
    const { port } = server.address() as AddressInfo;
    const client = await lazyReader(port, 'GET / HTTP/1.1\r\nhost: h\r\n\r\n');
    await until(() => unsent() > MIB);
    const left = once(response!, 'close');
    client.destroy();
    await left;
    expect(unsent()).toBe(0);
  });

  it('cuts off a client for which too much waits', async () => {
    act = (stream) => {
      const paced = new PacedStream(stream, 4 * MIB);
      for (const event of EVENTS) paced.write(event);
      paced.endStream();
    };
    const answer = await fetch(url);
    await expect(answer.text()).rejects.toThrow('terminated');
  });
});
