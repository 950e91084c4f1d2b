import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { resolveBroker, connectRedisTransport, type Transport } from '@baton/transport';
import { Redis } from 'ioredis';

const ROOT = join(__dirname, '..', '..', '..');
/** The clock tick of /proc/<pid>/stat: USER_HZ, 100 on every Linux that Node runs on. */
const TICK_US = 10_000;

/**
 * `bin/baton up` on a private Redis, with the measured quantities: pids, CPU time, memory, and the
 * bus.
 */
export class BenchCluster {
  private constructor(
    private readonly supervisor: ChildProcess,
    private readonly redis: BenchRedis,
    readonly port: number,
    readonly transport: Transport,
    readonly startMs: number,
  ) {}

  static async start(topology: string, flags: readonly string[]): Promise<BenchCluster> {
    const redis = await startRedis();
    const transport = await reachable(redis.url);
    const port = await freePort();
    const startedMs = performance.now();
    const args = ['up', topology, '--port', String(port), '--log-level', 'error', ...flags];
    const supervisor = spawn(process.execPath, [join(ROOT, 'bin', 'baton'), ...args], {
      env: { ...process.env, REDIS_URL: redis.url },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await untilReady(port);
    const startMs = performance.now() - startedMs;
    return new BenchCluster(supervisor, redis, port, transport, startMs);
  }

  /** Supervisor, its children and the broker. */
  get pids(): number[] {
    const supervisor = this.supervisor.pid ?? 0;
    return [supervisor, ...readChildren(supervisor), this.redis.pid];
  }

  async fetchPids(role: 'api' | 'prefill' | 'decode'): Promise<number[]> {
    if (role === 'api') {
      const answer = await fetch(`http://127.0.0.1:${this.port}/health/live`);
      return [((await answer.json()) as { pid: number }).pid];
    }
    const engines = await this.transport.presence.engines();
    return [...new Set(engines.filter((e) => e.stage === role).map((e) => e.pid))];
  }

  get redisPids(): number[] {
    return [this.redis.pid];
  }

  /** Proportional set size of all processes, MiB. */
  pssMiB(): number {
    const kib = this.pids.map((pid) => {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    });
    return kib.reduce((sum, one) => sum + one, 0) / 1024;
  }

  async stop(): Promise<void> {
    await this.transport.close();
    const gone = once(this.supervisor, 'exit');
    this.supervisor.kill('SIGTERM');
    await gone;
    await this.redis.close();
  }
}

interface BenchRedis {
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** The private server that `baton up` would start, for any value of REDIS_URL. */
async function startRedis(): Promise<BenchRedis> {
  const broker = await resolveBroker({}, () => undefined);
  if (broker.kind !== 'private-server') {
    throw new Error(`The benchmark needs a redis-server of its own. ${broker.line}`);
  }
  const admin = new Redis(broker.socketPath);
  const pid = Number(/process_id:(\d+)/.exec(await admin.info('server'))?.[1]);
  admin.disconnect();
  return { url: broker.url, pid, close: () => broker.close() };
}

/** Runs a measurement that needs only a broker. */
export async function withRedis<T>(measure: (url: string) => Promise<T>): Promise<T> {
  const redis = await startRedis();
  try {
    return await measure(redis.url);
  } finally {
    await redis.close();
  }
}

/** CPU time of these processes so far, µs. */
export function cpuUs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * TICK_US;
  }, 0);
}

function readChildren(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const children = list === '' ? [] : list.split(' ').map(Number);
  return children.flatMap((child) => [child, ...readChildren(child)]);
}

async function reachable(url: string): Promise<Transport> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await connectRedisTransport({ url });
    } catch (error) {
      if (attempt === 20) throw error;
      await pause(100);
    }
  }
}

async function untilReady(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const isReady = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isReady) return;
    await pause(25);
  }
  throw new Error('the cluster was not ready within 15 s');
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
