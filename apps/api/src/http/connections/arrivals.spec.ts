import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { wallUsOf } from '@baton/clock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/until';
import { takeArrivalUs, NewConnections } from './arrivals';

const REQUEST = 'GET / HTTP/1.1\r\nhost: h\r\n\r\n';

/** Connects and sends `count` requests from another process, while this one does nothing else. */
function askFromOutside(port: number, count: number): void {
  const program = `
    const { connect } = require('node:net');
    const [port, count, request] = JSON.parse(process.argv[1]);
    let sent = 0;
    const onSent = () => (sent += 1) === count && process.exit();
    for (let i = 0; i < count; i += 1) connect(port, '127.0.0.1').end(request, onSent);
  `;
  const input = JSON.stringify([port, count, REQUEST]);
  const { status, stderr } = spawnSync(process.execPath, ['-e', program, input]);
  if (status !== 0) throw new Error(String(stderr));
}

describe('arrivals', () => {
  let server: Server;
  let arrivals: NewConnections;
  let arrivedUs: number[];

  beforeEach(async () => {
    arrivals = new NewConnections();
    arrivedUs = [];
    server = createServer((message, response) => {
      arrivedUs.push(takeArrivalUs(message));
      response.end();
    });
    arrivals.watch(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const portOf = (): number => (server.address() as AddressInfo).port;

  it('are counted', async () => {
    askFromOutside(portOf(), 5);
    expect(arrivals.accepted).toBe(0);
    await until(() => arrivedUs.length === 5);
    expect(arrivals.accepted).toBe(5);
  });

  it('start the time of a request on a new connection at the accept', async () => {
    const acceptedUs: number[] = [];
    server.on('connection', () => {
      acceptedUs.push(wallUsOf());
    });
    askFromOutside(portOf(), 3);
    await until(() => arrivedUs.length === 3);
    expect(arrivals.waits.snapshot().count).toBe(3);
    // The connection is stamped just before the listener above is called.
    for (const [i, us] of arrivedUs.entries()) expect(us).toBeLessThanOrEqual(acceptedUs[i]!);
  });

  it('start the time of a request on an idle connection when its headers are read', async () => {
    const socket = connect(portOf(), '127.0.0.1');
    await once(server, 'connection');
    for (let turns = 0; turns < 3; turns += 1) await turn();
    const idleUntilUs = wallUsOf();
    socket.write(REQUEST);
    await until(() => arrivedUs.length === 1);
    expect(arrivedUs[0]).toBeGreaterThanOrEqual(idleUntilUs);
    expect(arrivals.waits.snapshot().count).toBe(0);
    socket.destroy();
  });
});
