import type { BatonConfig } from '@baton/config';
import type { Stage } from '@baton/contract';
import { freePort } from '../../../test/support/free-port';
import { ClusterFixture } from './cluster-fixture';
import { until } from './until';

export type Json = Record<string, unknown>;

/** The answer to a leg. */
export interface LegAnswer {
  readonly status: number;
  readonly body: Json & {
    readonly choices?: readonly { readonly text: string; readonly finish_reason: string }[];
    readonly kv_transfer_params?: Json | null;
    readonly error?: { readonly message: string; readonly code: unknown };
  };
}

/** Two ranks of the prefill and of the decode engine. */
const MOST_ENGINES = 4;

/**
 * Sends legs to the ports of single engines, as an outside router does. Needs a cluster
 * of one prefill and one decode engine.
 */
export class OutsideRouter {
  private constructor(
    readonly cluster: ClusterFixture,
    private readonly ports: ReadonlyMap<Stage, number>,
  ) {}

  static async start(config: Partial<BatonConfig> = {}): Promise<OutsideRouter> {
    const firstPort = await freePort(MOST_ENGINES);
    const exposed = { exposeEngines: true, exposeEnginesPort: firstPort, dialect: 'vllm' } as const;
    const cluster = await ClusterFixture.start(
      { prefill: 1, decode: 1 },
      { ...exposed, ...config },
    );
    const engines = await cluster.engines();
    const ports = new Map(engines.map(({ stage, index }) => [stage, firstPort + index]));
    const router = new OutsideRouter(cluster, ports);
    for (const stage of ports.keys()) await until(() => router.isUp(stage));
    return router;
  }

  url(stage: Stage, path: string): string {
    return `http://127.0.0.1:${this.ports.get(stage)}${path}`;
  }

  async engineId(stage: Stage): Promise<string> {
    const engines = await this.cluster.engines();
    return engines.find((engine) => engine.stage === stage)?.engineId ?? '';
  }

  send(stage: Stage, body: Json, more: SendOptions = {}): Promise<Response> {
    const { headers, signal, path = '/v1/completions' } = more;
    return fetch(this.url(stage, path), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async leg(stage: Stage, body: Json, more: SendOptions = {}): Promise<LegAnswer> {
    const answer = await this.send(stage, body, more);
    return { status: answer.status, body: (await answer.json()) as LegAnswer['body'] };
  }

  /** The cluster's own answer. */
  async plainText(body: Json): Promise<string | undefined> {
    const answer = await this.cluster.post(body);
    return ((await answer.json()) as LegAnswer['body']).choices?.[0]?.text;
  }

  async untilNothingIsHeld(): Promise<void> {
    await until(() => this.heldBlocks === 0);
  }

  get heldBlocks(): number {
    return this.sum((presence) => presence.gauges.heldBlocks);
  }

  /** A counter of all engines together, or of those of one stage. */
  counted(name: string, of?: Stage): number {
    return this.sum(({ stage, counters }) =>
      of === undefined || stage === of ? (counters[name] ?? 0) : 0,
    );
  }

  get hosts(): readonly HostOf[] {
    return [...this.cluster.workers.values()].flatMap((workers) => workers.hosts);
  }

  stop(): Promise<void> {
    return this.cluster.stop();
  }

  private sum(of: (presence: ReturnType<HostOf['presence']>) => number): number {
    return this.hosts.reduce((sum, host) => sum + of(host.presence()), 0);
  }

  private async isUp(stage: Stage): Promise<boolean> {
    return fetch(this.url(stage, '/health')).then(
      ({ status }) => status === 200,
      () => false,
    );
  }
}

interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** `/v1/completions` unless given. */
  readonly path?: string;
}

type HostOf = NonNullable<ReturnType<ClusterFixture['workers']['get']>>['hosts'][number];
