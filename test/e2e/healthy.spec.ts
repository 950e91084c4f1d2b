import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommandProcess } from '../support/command-process';
import { PrivateRedis } from '../support/redis-server';
import { waitUntil } from '../support/wait';

describe('bin/healthy', () => {
  let folder: string;
  let file: string;
  const closers: (() => unknown)[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-healthy-'));
    file = join(folder, 'url');
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    rmSync(folder, { recursive: true });
  });

  async function isHealthy(): Promise<boolean> {
    const env = { BATON_HEALTH_FILE: file };
    return (await CommandProcess.start(['bin/healthy'], { env }).ended) === 0;
  }

  /** `baton up` with a Redis of its own. */
  async function start(words: readonly string[]): Promise<void> {
    const redis = await PrivateRedis.launch();
    closers.push(() => redis.close());
    const env = { BATON_HEALTH_FILE: file, REDIS_URL: redis.url };
    const up = CommandProcess.start(['bin/baton', 'up', ...words], { env });
    closers.push(() => up.stop());
  }

  /** A server that answers 200 at one path, else 503. */
  async function serve(path: string): Promise<number> {
    const server: Server = createServer((request, response) => {
      response.writeHead(request.url === path ? 200 : 503).end();
    });
    closers.push(() => server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('asks the URL of the file', async () => {
    expect(await isHealthy()).toBe(false);
    const port = await serve('/health/ready');
    writeFileSync(file, `http://127.0.0.1:${port}/health/ready\n`);
    expect(await isHealthy()).toBe(true);
    writeFileSync(file, `http://127.0.0.1:${port}/health\n`);
    expect(await isHealthy()).toBe(false);
  });

  it('takes an accepted connection for health with HTTPS, and none for its lack', async () => {
    const port = await serve('/');
    writeFileSync(file, `https://127.0.0.1:${port}/health\n`);
    expect(await isHealthy()).toBe(true);
    await closers.pop()?.();
    expect(await isHealthy()).toBe(false);
  });

  it('asks a lone API for its /health, which needs the engines of other containers', async () => {
    await start(['--role', 'api', '--port', '0']);
    await waitUntil(() => existsSync(file) && readFileSync(file, 'utf8') !== '', {
      what: 'the URL is known',
    });
    expect(readFileSync(file, 'utf8')).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/health\n$/);
  });

  it.each([
    [['--role', 'decode'], /^http:\/\/127\.0\.0\.1:[1-9]\d*\/health\/ready\n$/],
    [['1P1D', '--port', '0'], /^http:\/\/127\.0\.0\.1:[1-9]\d*\/health\/ready\n$/],
  ])('follows the port of `up %j`', async (words, url) => {
    await start(words);
    await waitUntil(isHealthy, { what: `up ${words.join(' ')} is healthy` });
    expect(readFileSync(file, 'utf8')).toMatch(url);
  });
});
