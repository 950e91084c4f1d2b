import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attachInProcess } from '../in-process/attach';
import { connectRedisTransport } from '../redis/connect';
import { TransportUnavailable } from '../port/failures';
import { onTime } from '../../../../test/support/on-time';
import { PATIENT } from '../../../../test/support/redis-server';
import { waitUntil } from '../../../../test/support/wait';
import { startPrivateServer } from './private-server';
import { detectBroker, resolveBroker } from './resolve-broker';

describe('resolveBroker', () => {
  let folder: string;
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-spec-'));
    lines.length = 0;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('runs a server from the PATH privately and reports that in one line', async () => {
    const broker = await resolveBroker({}, log);
    if (broker.kind !== 'private-server') throw new Error(`took ${broker.kind}`);
    expect(lines).toEqual([broker.line]);
    expect(broker.line).toMatch(/^Message broker: private \/.*(redis|valkey)-server \(found on/);
    const transport = await connectRedisTransport({ url: broker.url, times: PATIENT });
    expect(await transport.jobs.waiting('prefill')).toBe(0);
    await transport.close();
    await broker.close();
    expect(existsSync(dirname(broker.socketPath))).toBe(false);
    expect(await accepts(broker.socketPath)).toBe(false);
  });

  it('fails when REDIS_URL is set and nothing answers there', async () => {
    const url = 'redis://me:secret@127.0.0.1:1/0';
    await onTime(5, async () => {
      const beganMs = performance.now();
      const resolving = resolveBroker({ redisUrl: url }, log);
      const detecting = detectBroker({ redisUrl: url });
      await expect(resolving).rejects.toThrow(TransportUnavailable);
      await expect(resolving).rejects.toThrow(/redis:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/);
      expect(await detecting).toMatchObject({ isUsable: false, kind: 'url' });
      const tookMs = performance.now() - beganMs;
      return () => expect(tookMs).toBeLessThan(6_000);
    });
  });

  it('prefers REDIS_URL', async () => {
    const outcome = await startPrivateServer({ path: 'redis-server' }, 64 * 1024 * 1024);
    if (outcome.kind === 'failed') throw new Error(outcome.why);
    const redisUrl = `unix:${outcome.server.socketPath}`;
    const broker = await resolveBroker({ redisUrl }, log);
    expect(broker).toMatchObject({ kind: 'url', url: redisUrl });
    expect(lines[0]).toMatch(/^Message broker: Redis \d.* at unix:.*, from REDIS_URL\.$/);
    await outcome.server.close();
  });

  it('runs everything in one process when there is no server and none may be fetched', async () => {
    const options = { environment: { PATH: folder }, cacheDirectory: folder, mayInstall: false };
    const broker = await resolveBroker(options, log);
    expect(broker.kind).toBe('in-process');
    expect(lines).toEqual([expect.stringMatching(/in-process.*no redis-server here/)]);
    expect(await detectBroker(options)).toMatchObject({ isUsable: true, kind: 'in-process' });
    expect(attachInProcess().description).toBe('in-process');
  });

  it('reports why a server on the PATH was not used', async () => {
    const broken = join(folder, 'redis-server');
    await writeFile(broken, '#!/bin/sh\necho cannot allocate anything >&2\nexit 3\n');
    await chmod(broken, 0o755);
    const options = { environment: { PATH: folder }, cacheDirectory: folder, mayInstall: false };
    const broker = await resolveBroker(options, log);
    expect(broker.line).toMatch(/in-process.*cannot allocate anything/);
  });
});

describe('a private server', () => {
  it('is restarted on the same socket when it dies', async () => {
    const outcome = await startPrivateServer({ path: 'redis-server' }, 64 * 1024 * 1024);
    if (outcome.kind === 'failed') throw new Error(outcome.why);
    const transport = await connectRedisTransport({ url: outcome.server.socketPath });
    const events: string[] = [];
    transport.onConnection((event) => events.push(event));
    transport.bus.publish('x', Buffer.from('x'));
    await shutDown(outcome.server.socketPath);
    await waitUntil(() => events.length === 2, { what: 'two events are there' });
    expect(events).toEqual(['lost', 'replaced']);
    await transport.close();
    await outcome.server.close();
  });

  it('ends with its parent, even when that is killed', async () => {
    const parent = startInChildProcess();
    const socketPath = await new Promise<string>((resolve) =>
      parent.stdout?.once('data', (line: Buffer) => resolve(line.toString().trim())),
    );
    expect(await accepts(socketPath)).toBe(true);
    parent.kill('SIGKILL');
    const isGone = async (): Promise<boolean> =>
      !(await accepts(socketPath)) && !existsSync(dirname(socketPath));
    await waitUntil(isGone, { what: 'socket and folder are gone' });
  });
});

/**
 * A process that only runs the watchdog as `startPrivateServer` does; the spec's own process must
 * outlive it.
 */
function startInChildProcess(): ChildProcess {
  const module = JSON.stringify(join(import.meta.dirname, 'private-server.ts'));
  const source = `
    import swc from '@swc/core';
    import { readFileSync } from 'node:fs';
    const { code } = swc.transformSync(readFileSync(${module}, 'utf8'), {
      filename: 'private-server.ts', jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' },
    });
    const { startPrivateServer } = await import('data:text/javascript,' + encodeURIComponent(code));
    const outcome = await startPrivateServer({ path: 'redis-server' }, 1 << 26);
    console.log(outcome.server.socketPath);
    setInterval(() => undefined, 1000);
  `;
  return spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function shutDown(socketPath: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath, () => socket.write('SHUTDOWN NOSAVE\r\n'));
    socket.once('close', () => resolve());
    socket.on('error', () => undefined);
  });
}

function accepts(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
