import { SystemWallClock } from '@baton/clock';
import { LiveSettings, shownEngines } from '@baton/config';
import { engineFamilies, exposed, familiesOf, readNumber } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { withUpstreamFamilies } from '../../executors/metrics/upstream-families';
import { WORKER, type WorkerDependencies } from '../engines.module';
import { WorkerHosts } from '../worker-hosts';

/** Interval of prom-client's samples in ms. Each one wakes an idle process. */
const OWN_SAMPLING_MS = 1_000;

/** The numbers of this process's engines, its event loop and its memory. */
@Injectable()
export class WorkerProbe {
  private readonly registry = new Registry();
  private readonly wall = new SystemWallClock();

  constructor(
    @Inject(WORKER) private readonly worker: WorkerDependencies,
    private readonly hosts: WorkerHosts,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
  ) {
    const { registry } = this;
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: OWN_SAMPLING_MS });
    readNumber(registry, {
      name: 'baton:event_loop_lag_seconds',
      help: 'How late the event loop of this process ran at most in the last 30 to 60 s.',
      type: 'gauge',
      read: () => worker.transport.processClock.loopLagMs() / 1_000,
    });
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
