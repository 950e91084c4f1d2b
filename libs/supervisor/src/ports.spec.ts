import { once } from 'node:events';
import { createServer } from 'node:net';
import { defaultConfig } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { checkEnginePorts, claimPort } from './ports';

async function whileTaken(test: (port: number) => Promise<void>): Promise<void> {
  const squatter = createServer();
  squatter.listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  const address = squatter.address();
  try {
    await test(typeof address === 'object' && address !== null ? address.port : 0);
  } finally {
    squatter.close();
  }
}

describe('ports', () => {
  it('are refused by number when they are in use', () =>
    whileTaken(async (port) => {
      const config = defaultConfig({ port });
      await expect(claimPort(config)).rejects.toThrow(
        `port ${port} on 127.0.0.1 is already taken; choose another with --port.`,
      );
    }));

  it('are chosen freely for 0', async () => {
    expect(await claimPort(defaultConfig({ port: 0 }))).toBeGreaterThan(0);
  });

  it('are refused on an address of another machine', async () => {
    await expect(claimPort(defaultConfig({ host: '203.0.113.1', port: 0 }))).rejects.toThrow(
      'cannot listen on 203.0.113.1:0 (EADDRNOTAVAIL)',
    );
  });

  it('are checked for every exposed engine', () =>
    whileTaken(async (port) => {
      const config = defaultConfig({ exposeEnginesPort: port });
      await expect(checkEnginePorts(config, 1)).rejects.toThrow('--expose-engines-port');
      const high = defaultConfig({ exposeEnginesPort: 65_535 });
      await expect(checkEnginePorts(high, 2)).rejects.toThrow('2 engines do not fit');
    }));
});
