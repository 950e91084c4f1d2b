import { randomUUID } from 'node:crypto';
import { Engine } from '@baton/engine';
import type { EnginePresence, Stage } from '@baton/contract';
import { secondsToUs } from '@baton/kernel';
import type { Transport } from '@baton/transport';
import { LiveClock } from '../clock/live-clock';
import { SystemWallClock, type WallClock } from '../clock/wall-clock';
import type { BatonConfig } from '../config/config';
import { engineSetup, type EngineSetup } from '../engine-factory';
import { checkExtrapolation } from '../extrapolation';
import type { Logger } from '../logs/logger';
import type { JobRouting } from '../placement/job-routing';
import { buildRouting, needsLoads } from '../placement/policy-routing';
import { EngineHost } from './engine-host';
import type { HostOptions } from './host-options';

export interface WorkerHostsOptions {
  readonly config: BatonConfig;
  readonly role: Stage;
  /** Engines of this role in this process. */
  readonly engines: number;
  readonly transport: Transport;
  readonly log: Logger;
  /** The machine's by default. */
  readonly wall?: WallClock;
}

/** A JSON message carries no infinity; a link without a limit is this fast (bytes per second). */
const UNLIMITED = 1e18;

/** The engines of one role in one process, on one transport. Whoever starts them stops them; the transport stays open. */
export class WorkerHosts {
  private constructor(
    readonly hosts: readonly EngineHost[],
    private readonly config: BatonConfig,
    private readonly routing: JobRouting,
  ) {}

  /** @throws UsageError when the configuration describes no engine that can be */
  static async start(options: WorkerHostsOptions): Promise<WorkerHosts> {
    const { config, role, transport, log, wall = new SystemWallClock() } = options;
    const setup = engineSetup(config, role);
    checkExtrapolation(setup, role, { everyBatch: true });
    const routerId = `${role}-${randomUUID().slice(0, 12)}`;
    const routing = buildRouting({ config, transport, routerId, role, wall });
    await routing.start();
    const hosts = Array.from(
      { length: options.engines },
      () =>
        new EngineHost(hostOptions(config, role, setup), {
          clock: new LiveClock(wall, config.speedup),
          transport,
          log,
          routing,
        }),
    );
    await Promise.all(hosts.map((host) => host.start()));
    return new WorkerHosts(hosts, config, routing);
  }

  presences(): EnginePresence[] {
    return this.hosts.map((host) => host.presence());
  }

  /** Drains all engines at once, for at most `shutdown_timeout`. */
  async stop(timeoutMs = this.config.shutdownTimeout * 1_000): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.stop(timeoutMs)));
    await this.routing.stop();
  }
}

function hostOptions(config: BatonConfig, role: Stage, setup: EngineSetup): HostOptions {
  const { options, link } = setup;
  return {
    role,
    facts: {
      model: setup.servedModelName,
      maxNumSeqs: options.maxNumSeqs,
      maxNumBatchedTokens: options.maxNumBatchedTokens,
      blockSize: options.blockSize,
      numBlocks: options.numBlocks,
      tensorParallelSize: setup.tensorParallelSize,
      kvBytesPerToken: setup.kvBytesPerToken,
      link: {
        bytesPerSecond: Math.min(UNLIMITED, link.bytesPerSecond),
        baseLatencyUs: link.baseLatencyUs,
      },
    },
    buildEngine: () => new Engine(options),
    kvLeaseUs: secondsToUs(config.kvLeaseDuration),
    kvLoadFailurePolicy: config.kvLoadFailurePolicy,
    workerLossPolicy: config.workerLossPolicy,
    maxRuns: config.maxRuns,
    startupUs: secondsToUs(config.startupDuration),
    tellsLoad: needsLoads(config),
    faults: { crashAfter: config.crashAfter, failReads: config.failReads, seed: config.seed },
  };
}
