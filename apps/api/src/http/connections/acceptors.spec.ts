import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/until';
import { addAcceptors, CAN_SHARE_PORTS } from './acceptors';

const host = '127.0.0.1';

describe('the acceptors of a server', () => {
  const clients: Socket[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
  });

  it('accept several connections in a turn, and close with their server', async () => {
    const server = createServer().listen({ host, port: 0, reusePort: true });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    addAcceptors(server, false);
    const open = new Set<Socket>();
    let [turn, first] = [0, 0];
    const next = (): void => {
      turn += 1;
      if (open.size < 64) setImmediate(next);
    };
    server.on('connection', (socket) => {
      first ||= turn;
      open.add(socket.on('error', () => undefined));
    });
    next();
    for (let i = 0; i < 64; i += 1) clients.push(connect(port, host).on('error', () => undefined));
    await until(() => open.size === 64);
    // One socket needs 64 turns.
    expect(turn - first).toBeLessThan(CAN_SHARE_PORTS ? 32 : Infinity);
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
    await until(async () => {
      const client = connect(port, host);
      const [error] = (await Promise.race([once(client, 'error'), once(client, 'connect')])) as [
        NodeJS.ErrnoException?,
      ];
      client.destroy();
      return error?.code === 'ECONNREFUSED';
    });
  });
});
