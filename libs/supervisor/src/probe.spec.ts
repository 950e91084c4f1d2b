import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { defaultConfig } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { isServing } from './probe';

const pem = (name: string): string =>
  readFileSync(join(__dirname, '../../../apps/api/test/certificates', name), 'utf8');
const SECURE = { sslCertfile: 'cert.pem' };

async function whileListening(
  server: Server,
  test: (host: string) => Promise<void>,
): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await test(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

describe('the probe of the API', () => {
  it.each([
    [200, true],
    [503, false],
  ])('is answered by status %i', (status, expected) =>
    whileListening(
      createServer((_request, answer) => answer.writeHead(status).end()),
      async (host) => {
        expect(await isServing(defaultConfig(), `http://${host}`)).toBe(expected);
      },
    ),
  );

  it('accepts any certificate', () => {
    const options = { cert: pem('stranger.pem'), key: pem('stranger.key') };
    return whileListening(
      createSecureServer(options, (_request, answer) => answer.end()),
      async (host) => {
        expect(await isServing(defaultConfig(SECURE), `https://${host}`)).toBe(true);
        expect(await isServing(defaultConfig(), `http://${host}`)).toBe(false);
      },
    );
  });

  it('is skipped when clients must show a certificate', async () => {
    const nobody = 'https://127.0.0.1:1';
    expect(await isServing(defaultConfig(SECURE), nobody)).toBe(false);
    expect(await isServing(defaultConfig({ ...SECURE, sslCertReqs: 2 }), nobody)).toBe(true);
  });
});
