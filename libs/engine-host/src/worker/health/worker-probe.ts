import { LoopLag, SystemWallClock } from '@baton/clock';
import { LiveSettings, shownEngines } from '@baton/config';
import { engineFamilies, exposed, familiesOf, readNumber } from '@baton/telemetry';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { withUpstreamFamilies } from '../../executors/metrics/upstream-families';
import { WORKER, type WorkerDependencies } from '../engines.module';
import { WorkerHosts } from '../worker-hosts';

/** Interval of prom-client's samples in ms. Each one wakes an idle process; `LoopLag` is finer. */
const OWN_SAMPLING_MS = 1_000;

/** The numbers of this process's engines, its event loop and its memory. */
@Injectable()
export class WorkerProbe implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly registry = new Registry();
  private readonly lag = new LoopLag();
  private readonly wall = new SystemWallClock();

  constructor(
    @Inject(WORKER) private readonly worker: WorkerDependencies,
    private readonly hosts: WorkerHosts,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
  ) {
    const { registry, lag } = this;
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: OWN_SAMPLING_MS });
    readNumber(registry, {
      name: 'baton:event_loop_lag_seconds',
      help: 'How late the event loop of this process ran at most in the last 30 to 60 s.',
      type: 'gauge',
      read: () => lag.worstMs() / 1_000,
    });
  }

  onApplicationBootstrap(): void {
    this.lag.start();
  }

  onApplicationShutdown(): void {
    this.lag.stop();
  }

  /** True when an engine of this process takes work. */
  get isReady(): boolean {
    return this.hosts.presences().some((engine) => engine.state === 'ready');
  }

  /** The page that Prometheus scrapes. */
  async metrics(): Promise<string> {
    const { config } = this.worker;
    const reports = await this.hosts.reports();
    const presences = reports.map(({ presence }) => presence);
    const shown = shownEngines(presences, this.settings.current, this.wall.nowUs());
    const lists = [engineFamilies(shown, this.worker), await familiesOf(this.registry)];
    return exposed(withUpstreamFamilies(lists, reports, config));
  }
}
