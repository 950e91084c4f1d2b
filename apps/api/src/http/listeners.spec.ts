import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type BatonConfig, defaultConfig } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Listeners } from './listeners';

describe('the servers of a process', () => {
  const warned = vi.fn();

  beforeEach(() => void warned.mockClear());
  afterEach(() => void vi.useRealTimers());

  async function listening(config: Partial<BatonConfig> = {}) {
    const logger = { warn: warned } as unknown as Logger;
    const server = new Listeners(defaultConfig(config), logger).create(() => undefined);
    server.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    return server;
  }

  it('go on after connections that could not be accepted', async () => {
    const server = await listening();
    for (const code of ['ENFILE', 'ECONNABORTED']) server.emit('error', new Error(code));
    expect(server.listening).toBe(true);
    expect(warned).toHaveBeenCalledTimes(2);
  });

  it('warn of too many connections again when a minute has passed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { port } = (await listening({ maxConnections: 1 })).address() as AddressInfo;
    const first = connect(port, '127.0.0.1');
    onTestFinished(() => void first.destroy());
    await once(first, 'connect');
    const refused = async (): Promise<void> => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      await once(socket, 'close');
    };
    await refused();
    await refused();
    expect(warned).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(60_000);
    await refused();
    expect(warned).toHaveBeenCalledTimes(2);
  });
});
