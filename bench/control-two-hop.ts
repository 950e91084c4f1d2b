import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import type { Hop, Sender, TwoHop } from './two-hop';
import { bareTwoHop, publicTwoHop } from './two-hop-bare';
import { batonTwoHop } from './two-hop-baton';

/**
 * The cost of two hops over this Redis on this machine, with nothing simulated in between: a client
 * and two workers for each hop, all in separate processes. It reports requests per second at a
 * fixed number of outstanding requests, and latencies at a fixed rate.
 *
 *   node dist/bench/control-two-hop.js --url unix:/path/redis.sock [--kind bare|public|baton]
 * [--outstanding 128] [--rate 50] [--seconds 8] [--workers 2]
 */
export interface TwoHopResult {
  readonly kind: 'bare' | 'public' | 'baton';
  readonly outstanding: number;
  readonly requestsPerSecond: number;
  readonly loadedMs: Percentiles;
  readonly rate: number;
  readonly pacedMs: Percentiles;
  /** CPU per request under load, a better measure than the rate on a machine with other work. */
  readonly cpuUsPerRequest: CpuCost;
}

export interface CpuCost {
  readonly client: number;
  readonly workers: number;
  readonly redis: number;
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export interface TwoHopOptions {
  readonly url: string;
  readonly kind: 'bare' | 'public' | 'baton';
  readonly outstanding: number;
  readonly rate: number;
  readonly seconds: number;
  readonly workersPerHop: number;
}

const KINDS: Readonly<Record<TwoHopOptions['kind'], TwoHop>> = {
  bare: bareTwoHop,
  public: publicTwoHop,
  baton: batonTwoHop,
};
const KIND_NAMES = ['bare', 'public', 'baton'] as const;
const WARM_UP = 500;

export async function measureTwoHop(options: TwoHopOptions): Promise<TwoHopResult> {
  const workers = await startWorkers(options);
  const sender = await KINDS[options.kind].openSender(options.url);
  const trips = new Trips(sender);
  await sender.onBack((id) => trips.note(id));
  await trips.keepOutstanding(options.outstanding, () => trips.count < WARM_UP);
  const paced = await trips.pace(options.rate, options.seconds);
  const endMs = performance.now() + options.seconds * 1_000;
  const cpuBefore = await cpuUsed(workers, options.url);
  const beganMs = performance.now();
  const loaded = await trips.keepOutstanding(options.outstanding, () => performance.now() < endMs);
  const elapsedSeconds = (performance.now() - beganMs) / 1_000;
  const cpuAfter = await cpuUsed(workers, options.url);
  await sender.close();
  for (const worker of workers) worker.kill();
  const { kind, outstanding, rate } = options;
  const requestsPerSecond = Math.round(loaded.length / elapsedSeconds);
  return {
    kind,
    outstanding,
    requestsPerSecond,
    loadedMs: percentiles(loaded),
    rate,
    pacedMs: percentiles(paced),
    cpuUsPerRequest: {
      client: Math.round((cpuAfter.client - cpuBefore.client) / loaded.length),
      workers: Math.round((cpuAfter.workers - cpuBefore.workers) / loaded.length),
      redis: Math.round((cpuAfter.redis - cpuBefore.redis) / loaded.length),
    },
  };
}

/** CPU time of each since its start, µs. */
async function cpuUsed(workers: readonly ChildProcess[], url: string): Promise<CpuCost> {
  const ofWorkers = await Promise.all(
    workers.map(async (worker) => {
      const answer = new Promise<number>((resolve) =>
        worker.once('message', (us: number) => resolve(us)),
      );
      worker.send('cpu');
      return answer;
    }),
  );
  const redis = new Redis(url.replace(/^unix:/, ''));
  const info = await redis.info('cpu');
  redis.disconnect();
  const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):(\S+)/gm)].map(([, value]) =>
    Number(value),
  );
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  return { client: ownCpuUs(), workers: sum(ofWorkers), redis: sum(seconds) * 1e6 };
}

function ownCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Requests under way, and the duration of each. */
class Trips {
  private readonly begunMs = new Map<string, number>();
  private tookMs: number[] = [];
  private sent = 0;
  private whenBack: () => void = () => undefined;

  constructor(private readonly sender: Sender) {}

  get count(): number {
    return this.sent;
  }

  note(id: string): void {
    const begunMs = this.begunMs.get(id);
    if (begunMs === undefined) return;
    this.begunMs.delete(id);
    this.tookMs.push(performance.now() - begunMs);
    this.whenBack();
  }

  /**
   * Sends a request whenever one returns, while `continues` is true. Ends when all have returned.
   */
  async keepOutstanding(outstanding: number, continues: () => boolean): Promise<number[]> {
    const ended = new Promise<void>((resolve) => {
      this.whenBack = () => {
        if (continues()) this.begin();
        else if (this.begunMs.size === 0) resolve();
      };
    });
    for (let i = 0; i < outstanding; i += 1) this.begin();
    await ended;
    return this.harvest();
  }

  async pace(rate: number, seconds: number): Promise<number[]> {
    const beganMs = performance.now();
    for (let i = 0; i < rate * seconds; i += 1) {
      await pause(Math.max(0, beganMs + (i * 1_000) / rate - performance.now()));
      this.begin();
    }
    while (this.begunMs.size > 0) await pause(1);
    return this.harvest();
  }

  private begin(): void {
    this.sent += 1;
    const id = `t${process.pid}-${this.sent}`;
    this.begunMs.set(id, performance.now());
    this.sender.send(id);
  }

  private harvest(): number[] {
    const harvested = this.tookMs;
    this.tookMs = [];
    return harvested;
  }
}

async function startWorkers({ url, kind, workersPerHop }: TwoHopOptions): Promise<ChildProcess[]> {
  const hops: Hop[] = ['first', 'second'];
  const workers = hops.flatMap((hop) =>
    Array.from({ length: workersPerHop }, () =>
      fork(__filename, ['--worker', hop, '--kind', kind, '--url', url]),
    ),
  );
  const isReady = (worker: ChildProcess): Promise<unknown> =>
    new Promise((resolve) => worker.once('message', resolve));
  await Promise.all(workers.map(isReady));
  return workers;
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
    return Math.round(value * 100) / 100;
  };
  return { p50: at(0.5), p99: at(0.99) };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: '' },
      kind: { type: 'string', default: 'bare' },
      worker: { type: 'string' },
      outstanding: { type: 'string', default: '128' },
      rate: { type: 'string', default: '50' },
      seconds: { type: 'string', default: '8' },
      workers: { type: 'string', default: '2' },
    },
  });
  const kind = KIND_NAMES.find((name) => name === values.kind) ?? 'bare';
  if (values.worker !== undefined) {
    await KINDS[kind].startWorker(values.url, values.worker === 'second' ? 'second' : 'first');
    process.on('message', () => process.send?.(ownCpuUs()));
    process.send?.('ready');
    return;
  }
  const result = await measureTwoHop({
    url: values.url,
    kind,
    outstanding: Number(values.outstanding),
    rate: Number(values.rate),
    seconds: Number(values.seconds),
    workersPerHop: Number(values.workers),
  });
  process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
}

if (require.main === module) void main();
