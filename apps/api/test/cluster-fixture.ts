import { type BatonConfig, defaultConfig } from '@baton/config';
import { type EngineLoad, type EnginePresence, type Stage, STAGES } from '@baton/contract';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, channels, InProcessHub, type Transport } from '@baton/transport';
import { WorkerHosts } from '@baton/engine-host';
import { STAGE_WAYS } from '../../../libs/engine-host/test/stage-ways';
import { ApiServer } from '../src/api-server';
import { until } from './until';

type Role = { readonly [S in Stage]?: number };

/**
 * A front and real engines in this process, each role on its own transport: 20 ms a prompt, 1 ms a
 * token, speedup 10.
 */
export class ClusterFixture {
  private constructor(
    readonly api: ApiServer,
    readonly workers: ReadonlyMap<Stage, WorkerHosts>,
    private readonly front: Transport,
    private readonly transports: readonly Transport[],
  ) {}

  static async start(roles: Role, overrides: Partial<BatonConfig>): Promise<ClusterFixture> {
    const config = defaultConfig({
      port: 0,
      logLevel: 'silent',
      speedup: 10,
      stepTime: 'constant',
      numGpuBlocksOverride: 4_096,
      timeToFirstToken: 20,
      interTokenLatency: 1,
      shutdownTimeout: 1,
      ...overrides,
    });
    const hub = new InProcessHub();
    const log = createLogger({ name: 'test', level: 'silent' });
    const workers = new Map<Stage, WorkerHosts>();
    const transports: Transport[] = [];
    for (const role of STAGES) {
      const engines = roles[role] ?? 0;
      if (engines === 0) continue;
      const transport = attachInProcess(hub);
      transports.push(transport);
      const stages = STAGE_WAYS;
      const options = { config, stages, engines: { [role]: engines }, transport, log };
      workers.set(role, await WorkerHosts.start(options));
    }
    const front = attachInProcess(hub);
    const starter = {
      start: (role: Stage, count: number) =>
        (workers.get(role) ?? [...workers.values()][0])?.join(role, count) ?? Promise.resolve(),
    };
    const api = await ApiServer.start({ config, transport: front, log, starter });
    const cluster = new ClusterFixture(api, workers, front, transports);
    await cluster.untilKnown();
    return cluster;
  }

  /** The engines as last announced. */
  engines(): Promise<readonly EnginePresence[]> {
    return this.front.presence.engines();
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.api.url}/v1/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  }

  /**
   * A number of an engine, by the exact series on the page of metrics; summed over series that
   * differ in other labels.
   */
  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const page = await (await fetch(`${this.api.url}/metrics`)).text();
    const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
    return page
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  async stop(): Promise<void> {
    await this.api.stop();
    for (const hosts of this.workers.values()) await hosts.stop(0);
    for (const transport of [this.front, ...this.transports]) await transport.close();
  }

  /** Resolves when every engine has published, after the call, that it has no requests. */
  untilIdle(): Promise<void> {
    return this.untilLoads(({ requests }) => requests === 0);
  }

  /**
   * Routers have an engine's load once its first presence is out. The API process reads presences
   * later than that, once a second while it is idle, and chooses only engines that it knows.
   */
  private async untilKnown(): Promise<void> {
    await this.untilLoads(({ state }) => state === 'ready');
    if (!this.publishesLoad) return;
    await until(async () => (await this.metric('baton:engine_ready')) === this.hostCount);
  }

  private get publishesLoad(): boolean {
    return [...this.workers.values()].some(({ hosts }) => hosts[0]?.options.publishesLoad);
  }

  private get hostCount(): number {
    return [...this.workers.values()].reduce((sum, { hosts }) => sum + hosts.length, 0);
  }

  /**
   * Resolves when each engine that publishes its load has published one that satisfies the
   * condition.
   */
  private async untilLoads(holds: (load: EngineLoad) => boolean): Promise<void> {
    const heard = new Set<string>();
    const count = this.hostCount;
    if (!this.publishesLoad) return;
    const unsubscribe = await this.front.bus.subscribe(channels.loads, (payload) => {
      const load = JSON.parse(payload.toString()) as EngineLoad;
      if (holds(load)) heard.add(load.engineId);
    });
    await until(() => heard.size === count);
    await unsubscribe();
  }
}
