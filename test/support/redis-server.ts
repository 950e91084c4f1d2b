import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TransportTimes } from '@baton/transport';
import { waitUntil } from './wait';

/**
 * Longer than a Redis process waits for a CPU on a busy machine. Tests of its silence and of locks
 * that run out set shorter ones.
 */
export const PATIENT: Partial<TransportTimes> = {
  silenceMs: 30_000,
  callDeadlineMs: 60_000,
  lockMs: 10_000,
};

/** Each write is on the disk before its answer. */
export const PERSISTENT = ['--appendonly', 'yes', '--appendfsync', 'always'];

/**
 * A private redis-server of one test file, on a unix socket that survives `kill` and `start` of the
 * server behind it.
 */
export class PrivateRedis {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly directory: string,
    private readonly flags: readonly string[],
  ) {}

  /** @param flags further options of redis-server, for example `...PERSISTENT` */
  static async launch(...flags: string[]): Promise<PrivateRedis> {
    const redis = new PrivateRedis(await mkdtemp(join(tmpdir(), 'baton-redis-')), flags);
    await redis.start();
    return redis;
  }

  get socketPath(): string {
    return join(this.directory, 'redis.sock');
  }

  /** The form that REDIS_URL takes. */
  get url(): string {
    return `unix:${this.socketPath}`;
  }

  async start(): Promise<void> {
    const options = [
      '--port',
      '0',
      '--unixsocket',
      this.socketPath,
      '--save',
      '',
      '--dir',
      this.directory,
      ...this.flags,
    ];
    this.process = spawn('redis-server', options, { stdio: 'ignore' });
    await waitUntil(() => accepts(this.socketPath), { what: 'redis-server accepts connections' });
  }

  /** SIGKILL: the next `start` has no data, unless the server is persistent. */
  async kill(): Promise<void> {
    const dead = this.process;
    if (dead === undefined) return;
    this.process = undefined;
    const gone = new Promise((resolve) => dead.once('exit', resolve));
    dead.kill('SIGKILL');
    await gone;
  }

  /** SIGSTOP: it is there and does not answer, until `thaw`. */
  freeze(): void {
    this.process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.process?.kill('SIGCONT');
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }
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
