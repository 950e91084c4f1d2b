import { type BatonConfig, defaultConfig } from '@baton/config';
import type { Stage } from '@baton/contract';
import type { Dialect } from '@baton/openai';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, type Transport } from '@baton/transport';
import { WorkerHosts } from '@baton/engine-host';
import { STAGE_WAYS } from '../../../libs/engine-host/test/stage-ways';
import { ApiFixture } from '../../../apps/api/test/api-fixture';
import { until } from '../../../apps/api/test/until';

/** Separate prefill and decode engines, or one engine for both. */
export type Layout = 'disaggregated' | 'aggregated';

const LAYOUTS: Readonly<Record<Layout, LayoutOptions>> = {
  disaggregated: { topology: '1P1D', engines: { prefill: 1, decode: 1 } },
  aggregated: { topology: '1A', engines: { aggregated: 1 } },
};

interface LayoutOptions {
  readonly topology: string;
  readonly engines: Readonly<Partial<Record<Stage, number>>>;
}

/**
 * A front with real engines behind it, all in this process, at hundreds of times the real speed.
 */
export class LiveCluster {
  private constructor(
    readonly dialect: Dialect,
    readonly layout: Layout,
    readonly fixture: ApiFixture,
    private readonly engines: { readonly hosts: WorkerHosts; readonly transport: Transport },
  ) {}

  static async open(
    dialect: Dialect,
    layout: Layout,
    more: Partial<BatonConfig> = {},
  ): Promise<LiveCluster> {
    const { topology, engines } = LAYOUTS[layout];
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
    const transport: Transport = attachInProcess(fixture.hub);
    const hosts = await WorkerHosts.start({
      config,
      engines,
      stages: STAGE_WAYS,
      transport,
      log,
    });
    await until(async () => (await fetch(`${fixture.api.url}/health/ready`)).ok);
    return new LiveCluster(dialect, layout, fixture, { hosts, transport });
  }

  get url(): string {
    return this.fixture.api.url;
  }

  async close(): Promise<void> {
    await this.engines.hosts.stop(0);
    await this.engines.transport.close();
    await this.fixture.stop();
  }
}
