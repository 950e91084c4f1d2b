import { type BatonConfig, LiveSettings } from '@baton/config';
import type { JobRouting } from '@baton/routing';
import type { Logger } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { ClusterView } from './cluster/cluster-view';
import { ExposedEngines } from './cluster/exposed-engines';
import { Aborter } from './frames/aborter';
import { frameFaults } from './frames/frame-faults';
import { FrameInbox } from './frames/frame-inbox';
import { Recovery } from './frames/recovery';
import { Rehomer } from './frames/rehomer';
import { ReaderWatch } from './http/streaming/reader-watch';
import { ProcessMetrics } from './observers/metrics/process-metrics';
import { Observers } from './observers/observers';
import { AdmissionGate } from './request/admit/admission-gate';
import { LiveExchanges } from './request/exchange/live-exchanges';
import { Player } from './request/playing/player';
import { CONFIG, LOGGER, ROUTING } from './tokens';

const DRAIN_CHECK_MS = 20;
/** How long clients have to take over the error that ended their requests. */
const LAST_WORDS_MS = 1_000;

/** The order in which the parts of the process start, and in which they end. */
@Injectable()
export class ApiLifecycle {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly inbox: FrameInbox,
    private readonly cluster: ClusterView,
    private readonly gate: AdmissionGate,
    private readonly recovery: Recovery,
    private readonly readers: ReaderWatch,
    private readonly live: LiveExchanges,
    private readonly aborter: Aborter,
    private readonly exposed: ExposedEngines,
    private readonly process: ProcessMetrics,
    private readonly rehomer: Rehomer,
    private readonly observers: Observers,
    private readonly player: Player,
    @Inject(ROUTING) private readonly routing: JobRouting,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
  ) {}

  /** Listens for frames and says that it lives, before the first request can come. */
  async start(): Promise<void> {
    await this.observers.start();
    await this.player.start();
    await this.settings.start();
    await this.inbox.start(frameFaults(this.config));
    this.cluster.onEngines((engines) => this.gate.noteEngines(engines));
    this.cluster.onEngines(() => void this.gate.refreshTotals().catch(() => undefined));
    await this.routing.start();
    await this.cluster.start();
    this.rehomer.start();
    this.recovery.start();
    this.readers.start();
    this.process.start();
  }

  /** Refuses new requests, lets those under way end within `shutdown_timeout`, then ends them. */
  async drain(): Promise<void> {
    this.live.drain();
    this.logger.info({ requests: this.live.count }, 'draining');
    await this.untilIdle(this.config.shutdownTimeout * 1_000);
    this.live.endAll();
    await this.untilIdle(LAST_WORDS_MS);
    await this.aborter.settled();
  }

  private async untilIdle(limitMs: number): Promise<void> {
    const deadlineMs = performance.now() + limitMs;
    while (this.live.count > 0 && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
    }
  }

  async stop(): Promise<void> {
    this.recovery.stop();
    await this.settings.stop();
    this.rehomer.stop();
    await this.routing.stop().catch(() => undefined);
    this.readers.stop();
    this.process.stop();
    this.exposed.stop();
    await this.inbox.stop().catch(() => undefined);
    await this.observers.stop();
    await this.cluster.stop();
  }
}
