import type { Stage } from '@baton/contract';
import type { Dialect } from '@baton/openai';
import { type BatonConfig, createLogger, defaultConfig, WorkerHosts } from '@baton/runtime';
import { attachInProcess, type Transport } from '@baton/transport';
import { ApiFixture } from '../../../apps/api/test/api-fixture';
import { until } from '../../../apps/api/test/until';

/** Prefill and decode apart, or one engine for both. */
export type Layout = 'disaggregated' | 'aggregated';

const LAYOUTS: Readonly<Record<Layout, { topology: string; roles: readonly Stage[] }>> = {
  disaggregated: { topology: '1P1D', roles: ['prefill', 'decode'] },
  aggregated: { topology: '1A', roles: ['aggregated'] },
};

/** A front with real engines behind it, all in this process, hundreds of times faster than life. */
export class LiveCluster {
  private constructor(
    readonly dialect: Dialect,
    readonly layout: Layout,
    readonly fixture: ApiFixture,
    private readonly stops: readonly (() => Promise<void>)[],
  ) {}

  static async open(
    dialect: Dialect,
    layout: Layout,
    more: Partial<BatonConfig> = {},
  ): Promise<LiveCluster> {
    const { topology, roles } = LAYOUTS[layout];
    const config = defaultConfig({
      topology,
      dialect,
      port: 0,
      speedup: 500,
      logLevel: 'silent',
      stepTime: 'constant',
      ...more,
    });
    const fixture = await ApiFixture.start({ config, engines: [] });
    const log = createLogger({ name: 'engines', level: 'silent' });
    const stops: (() => Promise<void>)[] = [];
    for (const role of roles) {
      const transport: Transport = attachInProcess(fixture.hub);
      const hosts = await WorkerHosts.start({ config, role, engines: 1, transport, log });
      stops.push(async () => {
        await hosts.stop(0);
        await transport.close();
      });
    }
    await until(async () => (await fetch(`${fixture.api.url}/health/ready`)).ok);
    return new LiveCluster(dialect, layout, fixture, stops);
  }

  get url(): string {
    return this.fixture.api.url;
  }

  async close(): Promise<void> {
    for (const stop of this.stops) await stop();
    await this.fixture.stop();
  }
}
