import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { EnginePresence, Stage } from '@baton/contract';
import { connectRedisTransport, type Transport } from '@baton/transport';
import { Redis } from 'ioredis';
import { freePort } from './free-port';
import { isAlive } from './processes';
import { PATIENT, PrivateRedis } from './redis-server';
import { waitUntil } from './wait';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));

/** A step time that is easy to reason about: 20 ms a prompt, 5 ms a token. */
export const PLAIN_STEPS: readonly string[] = [
  '--step-time=constant',
  '--time-to-first-token=20',
  '--inter-token-latency=5',
];

export interface ClusterOptions {
  readonly topology: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Share a Redis with another cluster; else the cluster gets its own. */
  readonly redis?: PrivateRedis;
}

/**
 * `bin/baton up` as a user starts it, with real processes and a real Redis, plus methods to look
 * inside and to kill processes.
 */
export class TestCluster {
  private output = '';

  private constructor(
    private readonly supervisor: ChildProcess,
    readonly redis: PrivateRedis,
    readonly port: number,
    private readonly ownsRedis: boolean,
    private readonly transport: Transport,
  ) {}

  static async start(options: ClusterOptions): Promise<TestCluster> {
    const redis = options.redis ?? (await PrivateRedis.launch());
    const port = await freePort();
    const flags = ['up', options.topology, '--port', String(port), ...(options.flags ?? [])];
    // What dies with a process must not depend on the cores of the machine.
    const env = { BATON_ENGINES_PER_PROCESS: '1', REDIS_URL: redis.url, ...options.env };
    const supervisor = spawn(process.execPath, [BATON, ...flags], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const transport = await connectRedisTransport({ url: redis.url, times: PATIENT });
    const cluster = new TestCluster(
      supervisor,
      redis,
      port,
      options.redis === undefined,
      transport,
    );
    await cluster.untilReady();
    return cluster;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Everything that the supervisor and its children printed. */
  get log(): string {
    return this.output;
  }

  get supervisorPid(): number {
    return this.supervisor.pid ?? 0;
  }

  engines(): Promise<readonly EnginePresence[]> {
    return this.transport.presence.engines();
  }

  /** Pids of the worker processes of a stage. */
  async pidsOf(stage: Stage): Promise<number[]> {
    const engines = await this.engines();
    return [...new Set(engines.filter((e) => e.stage === stage).map((e) => e.pid))];
  }

  /**
   * Each stage has so many worker processes, and all that are announced are alive: a killed one is
   * announced until its presence ends.
   */
  async untilWorkers(counts: Readonly<Partial<Record<Stage, number>>>): Promise<void> {
    for (const stage of Object.keys(counts) as Stage[]) {
      const areThere = async (): Promise<boolean> => {
        const pids = await this.pidsOf(stage);
        return pids.length === counts[stage] && pids.every(isAlive);
      };
      await waitUntil(areThere, { what: `${counts[stage]} ${stage} workers are there` });
    }
  }

  /** The API process that answers on this cluster's port. */
  async apiPid(): Promise<number> {
    const answer = await fetch(`${this.baseUrl}/health/live`);
    return Number(((await answer.json()) as { pid: number }).pid);
  }

  /** Sum of a gauge over all engines, as they last announced it. */
  async sumOf(
    gauge: 'running' | 'heldBlocks' | 'waitingCapacity' | 'waitingDeferred',
  ): Promise<number> {
    const engines = await this.engines();
    return engines.reduce((sum, engine) => sum + engine.gauges[gauge], 0);
  }

  /** Number of jobs that a stage's shared queue got since Redis started: BullMQ counts them. */
  async jobsAdded(stage: Stage): Promise<number> {
    const client = new Redis(this.redis.socketPath);
    const added = await client.get(`{baton}:queue:${stage}:id`);
    client.disconnect();
    return Number(added ?? 0);
  }

  /** All blocks free, nothing runs: what must hold after every test. */
  async untilAtRest(): Promise<void> {
    const atRest = async (): Promise<boolean> => {
      const engines = await this.engines();
      return engines.every(
        ({ gauges: g }) =>
          g.running + g.waitingCapacity + g.waitingDeferred + g.heldBlocks === 0 && g.kvUsage === 0,
      );
    };
    await waitUntil(atRest, { what: 'every engine is at rest' });
  }

  /** The API answers and sees engines of each stage. */
  async untilServing(): Promise<void> {
    await waitUntil(() => this.isServing(), { what: 'the cluster is ready' });
  }

  /** The same after a restart of Redis, to which this object connects again as well. */
  async untilServingAgain(): Promise<void> {
    const isConnected = (): Promise<boolean> =>
      this.engines().then(
        () => true,
        () => false,
      );
    await waitUntil(isConnected, { what: 'the test is connected to Redis again' });
    await this.untilServing();
  }

  async stop(): Promise<void> {
    await this.transport.close();
    if (this.supervisor.exitCode === null && this.supervisor.signalCode === null) {
      const gone = once(this.supervisor, 'exit');
      this.supervisor.kill('SIGTERM');
      await gone;
    }
    if (this.ownsRedis) await this.redis.close();
  }

  private async isReady(): Promise<boolean> {
    if (this.supervisor.exitCode !== null) throw new Error(`baton up ended:\n${this.output}`);
    // It may use HTTPS, so its own output is a sign too.
    return /^Ready in /m.test(this.output) || (await this.isServing());
  }

  private isServing(): Promise<boolean> {
    return fetch(`${this.baseUrl}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  private async untilReady(): Promise<void> {
    const collect = (chunk: Buffer): void => {
      this.output += chunk.toString();
    };
    this.supervisor.stdout?.on('data', collect);
    this.supervisor.stderr?.on('data', collect);
    try {
      await waitUntil(() => this.isReady(), { what: 'the cluster is ready' });
    } catch (error) {
      await this.stop();
      throw new Error(`${String(error)}\n${this.output}`);
    }
  }
}
