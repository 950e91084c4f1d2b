import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../../test/until';
import { acceptQueueOf } from './accept-queue';
import { Acceptors } from './acceptors';

vi.mock('./accept-queue', { spy: true });

const MOST = 40;

interface Listening {
  readonly server: Server;
  readonly acceptors: Acceptors;
  readonly port: number;
  readonly open: Set<Socket>;
}

describe('the acceptors of a server', () => {
  const clients: Socket[] = [];
  let listening: Listening | undefined;

  afterEach(async () => {
    closeClients();
    listening?.server.close();
    await until(() => listening?.open.size === 0);
  });

  async function listen(): Promise<Listening> {
    const server = createServer({ allowHalfOpen: true });
    const acceptors = new Acceptors(server, { mostConnections: MOST, allowHalfOpen: true });
    const open = new Set<Socket>();
    server.on('connection', (socket) => {
      open.add(socket.once('close', () => open.delete(socket)));
      socket.resume().on('error', () => undefined);
      socket.on('end', () => socket.end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    listening = { server, acceptors, open, port: (server.address() as AddressInfo).port };
    return listening;
  }

  async function listenWithAll(): Promise<Listening> {
    const all = await listen();
    all.acceptors.multiply();
    await until(() => all.acceptors.size === 16);
    return all;
  }

  function connectTo(port: number, count: number): Promise<unknown[]> {
    const opened = Array.from({ length: count }, () => connect(port, '127.0.0.1').resume());
    for (const client of opened) client.on('error', () => undefined);
    clients.push(...opened);
    return Promise.all(opened.map((client) => once(client, 'connect').catch(() => undefined)));
  }

  function closeClients(): void {
    for (const client of clients.splice(0)) client.destroy();
  }

  /** Turns of the event loop from the first to the last of that many connections. */
  async function turnsToAccept({ server, port }: Listening, count: number): Promise<number> {
    let [turn, first, accepted] = [0, 0, 0];
    const next = (): void => {
      turn += 1;
      if (accepted < count) setImmediate(next);
    };
    next();
    server.on('connection', () => {
      if (accepted++ === 0) first = turn;
    });
    void connectTo(port, count);
    await until(() => accepted === count);
    return turn - first;
  }

  async function failureOf(port: number): Promise<string | undefined> {
    const client = connect(port, '127.0.0.1');
    const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
    return error.code;
  }

  it('accept several connections in a turn', async () => {
    const turns = await turnsToAccept(await listenWithAll(), 32);
    expect(turns).toBeLessThanOrEqual(8);
  });

  it('are one while no connection waits', async () => {
    const all = await listen();
    await connectTo(all.port, 1);
    await until(() => all.open.size === 1);
    expect(all.acceptors.size).toBe(1);
  });

  it('do not read the queue while connections come one by one', async () => {
    vi.mocked(acceptQueueOf).mockClear();
    const { port, open, server } = await listen();
    for (let i = 1; i <= 12; i += 1) {
      const accepted = once(server, 'connection');
      await Promise.all([connectTo(port, 1), accepted]);
      expect(open.size).toBe(i);
      // A turn without a connection, and the one that notes it.
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    }
    expect(acceptQueueOf).not.toHaveBeenCalled();
  });

  it('multiply when connections queue in the kernel', async () => {
    const all = await listen();
    void connectTo(all.port, 32);
    await until(() => all.acceptors.size === 16);
    await until(() => all.open.size === 32);
  });

  it('multiply later when the process that makes the copies could not be started', async () => {
    const { acceptors, port } = await listen();
    const { execPath } = process;
    process.execPath = '/no/such/program';
    acceptors.multiply();
    process.execPath = execPath;
    while (acceptors.size < 16) {
      closeClients();
      await connectTo(port, 32);
    }
  });

  it('share one limit', async () => {
    const all = await listenWithAll();
    let dropped = 0;
    all.server.on('drop', () => (dropped += 1));
    await connectTo(all.port, 60);
    await until(() => dropped === 60 - MOST);
    expect(all.open.size).toBe(MOST);
    closeClients();
    await until(() => all.open.size === 0);
    await connectTo(all.port, MOST);
    await until(() => all.open.size === MOST);
    expect(dropped).toBe(60 - MOST);
  });

  it('close with their server', async () => {
    const { server, port } = await listenWithAll();
    server.close();
    // The socket closes when the process that has made the copies has ended too.
    await until(async () => (await failureOf(port)) === 'ECONNREFUSED');
  });
});
