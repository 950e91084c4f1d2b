import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { exchange } from '../../../test/raw-http';
import { AdminKey } from './admin-key';
import { AdminGuard } from './admin.guard';

const FOREIGN = 'https://evil.example';
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
/** Requests of operators that change or read something. */
const OPERATORS: readonly (readonly [string, string])[] = [
  ['GET', '/admin/engines'],
  ['POST', '/admin/engines'],
  ['DELETE', '/admin/engines/x'],
  ['POST', '/admin/engines/x/role'],
  ['GET', '/admin/config'],
  ['POST', '/admin/config'],
  ['GET', '/debug/batch'],
  ['POST', '/reset_prefix_cache'],
  ['POST', '/reset_mm_cache'],
  ['POST', '/reset_encoder_cache'],
  ['POST', '/sleep'],
  ['POST', '/wake_up'],
  ['GET', '/is_sleeping'],
  ['POST', '/pause'],
  ['POST', '/resume'],
  ['GET', '/is_paused'],
  ['POST', '/abort_requests'],
  ['GET', '/server_info'],
];

describe.each(['openai', 'vllm'] as const)('endpoints of operators (%s)', (dialect) => {
  let fixture: ApiFixture;
  afterEach(() => fixture.stop());

  async function start(config: Partial<BatonConfig> = {}): Promise<void> {
    fixture = await ApiFixture.start({
      config: { dialect, enableAdmin: true, enableDevMode: true, ...config },
      engines: [],
    });
  }

  function ask(
    [method, path]: readonly [string, string],
    headers: Record<string, string> = {},
    base = fixture.api.url,
  ): Promise<Response> {
    const typed = method === 'POST' ? { 'content-type': 'application/json' } : {};
    const body = method === 'POST' ? { body: '{}' } : {};
    return fetch(`${base}${path}`, { method, headers: { ...typed, ...headers }, ...body });
  }

  /** The status for a request with exactly these headers. */
  async function statusOf(headers: readonly string[]): Promise<number> {
    const text = ['POST /resume HTTP/1.1', ...headers, 'connection: close', '\r\n'].join('\r\n');
    return Number((await exchange(fixture.port, text)).split(' ')[1]);
  }

  it('accept this machine and pages of this server', async () => {
    await start();
    const origin = fixture.api.url;
    for (const headers of [{}, { origin }, { origin, 'sec-fetch-site': 'same-origin' }]) {
      expect((await ask(['GET', '/admin/config'], headers)).status).toBe(200);
      expect((await ask(['POST', '/resume'], headers)).status).toBe(200);
    }
    const byName = origin.replace('127.0.0.1', 'localhost');
    expect((await ask(['POST', '/resume'], { origin: byName }, byName)).status).toBe(200);
  });

  it('refuse pages of other origins, whatever they ask for', async () => {
    await start();
    const port = fixture.port + 1;
    for (const origin of [FOREIGN, 'null', `http://127.0.0.1:${port}`, 'http://localhost']) {
      for (const operation of OPERATORS) {
        const answer = await ask(operation, { origin });
        expect(answer.status, operation.join(' ')).toBe(403);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      }
    }
    const sites = await ask(['GET', '/admin/config'], { 'sec-fetch-site': 'cross-site' });
    expect(sites.status).toBe(403);
    expect((await ask(['POST', '/%72esume'], { origin: FOREIGN })).status).toBe(403);
  });

  it('grant no preflight, unless the origin is named', async () => {
    await start({ allowedOrigins: ['*', 'https://board.example'] });
    const preflight = async (path: string, origin: string): Promise<Response> =>
      fetch(`${fixture.api.url}${path}`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    for (const path of ['/admin/config', '/pause', '/%61dmin/config', '/abort_requests']) {
      const foreign = await preflight(path, FOREIGN);
      expect([path, foreign.status]).toEqual([path, 400]);
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
      const named = await preflight(path, 'https://board.example');
      expect(named.headers.get('access-control-allow-origin')).toBe('https://board.example');
    }
    expect((await preflight('/v1/completions', FOREIGN)).status).toBe(200);
  });

  it('refuse names of other machines that resolve to this one', async () => {
    await start();
    const { port } = fixture;
    const statuses = new Map<string, number>();
    for (const host of [`127.0.0.1:${port}`, `LOCALHOST:${port}`, '127.9.9.9', '[::1]:80']) {
      statuses.set(host, await statusOf([`host: ${host}`]));
    }
    expect([...statuses.values()]).toEqual([200, 200, 200, 200]);
    for (const host of [`evil.example:${port}`, '127.0.0.1.evil.example', '10.0.0.1', '']) {
      expect([host, await statusOf([`host: ${host}`])]).toEqual([host, 403]);
    }
    const rebound = ['host: evil.example', 'origin: http://evil.example'];
    expect(await statusOf(rebound)).toBe(403);
  });

  it('need the key when a proxy forwards the request', async () => {
    await start();
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']) {
      expect((await ask(['POST', '/resume'], { [name]: '127.0.0.1' })).status).toBe(401);
    }
  });

  it('accept the generated key from anywhere', async () => {
    await start();
    const made = fixture.api.generatedAdminKey ?? '';
    expect(made.length).toBeGreaterThanOrEqual(32);
    const elsewhere = { 'x-forwarded-for': '192.0.2.1', origin: FOREIGN };
    for (const operation of OPERATORS) {
      expect((await ask(operation, elsewhere)).status, operation.join(' ')).toBe(401);
    }
    const answer = await ask(['GET', '/admin/config'], { ...elsewhere, ...bearer(made) });
    expect(answer.status).toBe(200);
  });

  it('accept only a configured key, even on this machine', async () => {
    await start({ adminApiKey: 'root' });
    expect(fixture.api.generatedAdminKey).toBeUndefined();
    for (const operation of OPERATORS) {
      expect((await ask(operation)).status, operation.join(' ')).toBe(401);
    }
    expect((await ask(['GET', '/admin/config'], bearer('root'))).status).toBe(200);
    expect((await ask(['GET', '/admin/config'], bearer('roo'))).status).toBe(401);
  });

  it('neither accept nor require API keys', async () => {
    await start({ apiKey: ['sk-one'], adminApiKey: 'root' });
    expect((await ask(['GET', '/admin/config'], bearer('sk-one'))).status).toBe(401);
    expect((await ask(['GET', '/admin/config'], bearer('root'))).status).toBe(200);
    expect((await ask(['GET', '/v1/models'], bearer('root'))).status).toBe(401);
  });

  it('accept a key from a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-admin-'));
    writeFileSync(join(folder, 'key'), 'root\n');
    await start({ adminApiKeyFile: join(folder, 'key') });
    rmSync(folder, { recursive: true });
    expect((await ask(['GET', '/admin/config'], bearer('root'))).status).toBe(200);
    expect((await ask(['GET', '/admin/config'])).status).toBe(401);
  });

  it('leave all other endpoints as open as before', async () => {
    await start();
    const answer = await ask(['GET', '/v1/models'], { origin: FOREIGN });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(await statusOf(['host: evil.example'])).toBe(403);
    const open = await exchange(
      fixture.port,
      'GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    );
    expect(open).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('a peer', () => {
  const config = defaultConfig({ enableAdmin: true });
  const guard = new AdminGuard(config, new AdminKey(config));
  const from = (remoteAddress: string): boolean => {
    const message = { socket: { remoteAddress }, headers: { host: 'localhost' } };
    return guard.admits(message as unknown as IncomingMessage);
  };

  it.each(['127.0.0.1', '127.3.2.1', '::1', '::ffff:127.0.0.1'])('%s is this machine', (address) =>
    expect(from(address)).toBe(true),
  );

  it.each(['10.0.0.1', '192.0.2.2', '::2', '::ffff:10.0.0.1', 'fe80::1', '1127.0.0.1', ''])(
    '"%s" is not this machine',
    (address) => expect(from(address)).toBe(false),
  );
});
