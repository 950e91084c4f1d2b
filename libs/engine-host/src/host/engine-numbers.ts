import type { EnginePresence, EngineReport } from '@baton/contract';
import { engineName } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { Injectable, Optional } from '@nestjs/common';
import { hostname } from 'node:os';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot } from '../run/engine/engine-slot';
import { Executor } from '../run/jobs/executor';
import type { DriverOptions } from '../run/options';
import { PoolNode } from '../run/pool/pool-node';
import { Broker, HostOptions } from '../run/tokens';
import { engineCounters } from './engine-counters';
import { GaugeReader } from './engine-gauges';

/** Smaller changes of the lateness are published with the next change of another number. */
const LATENESS_GRAIN_MS = 100;

/** Everything that one engine publishes to the cluster, at this instant. */
@Injectable()
export class EngineNumbers {
  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly slot: EngineSlot,
    private readonly stats: EngineStats,
    private readonly transport: Broker,
    private readonly gauges: GaugeReader,
    @Optional() private readonly poolNode?: PoolNode,
    @Optional() private readonly executor?: Executor,
  ) {}

  snapshot(): EnginePresence {
    const { identity, options, slot, stats, gauges, executor, poolNode } = this;
    const numbers = executor?.numbers();
    return {
      engineId: identity.engineId,
      stage: identity.role,
      index: identity.index,
      name: identity.name,
      ...dataParallel(identity),
      pid: process.pid,
      host: hostname(),
      model: options.facts.model,
      ...originOf(options),
      state: identity.state,
      ...(identity.loading !== undefined && { loading: identity.loading }),
      gauges: gauges.read(numbers?.isUp),
      counters: engineCounters({ options, slot, stats, poolNode }, numbers),
      histograms: stats.histograms(),
    };
  }

  /** The numbers at a scrape: those of the instant at which the engine's server has answered. */
  async report(): Promise<EngineReport> {
    const page = (await this.executor?.metricsPage()) ?? '';
    return { presence: this.snapshot(), page };
  }

  /**
   * A number that changes with every event that a reader of the presence can wait for. The numbers
   * of an executor can change at any time.
   */
  fingerprint(): string {
    const { slot, stats, transport, executor } = this;
    const { running, waiting, deferred, freeBlocks, heldBlocks } = slot.engine.snapshot();
    const lateness = Math.round(transport.processClock.latenessMs() / LATENESS_GRAIN_MS);
    const load = [slot.engine.counters.steps, running, waiting, deferred, freeBlocks, heldBlocks];
    return [...load, lateness, stats.changes, JSON.stringify(executor?.numbers())].join();
  }
}

function originOf({
  stepTimes,
}: Pick<DriverOptions, 'stepTimes'>): Pick<EnginePresence, 'stepTimes'> {
  if (stepTimes === undefined) return {};
  const { method, description } = stepTimes;
  return { stepTimes: { method, description } };
}

function dataParallel({
  role,
  dataParallel: ranks,
}: EngineIdentity): Pick<EnginePresence, 'dataParallel'> {
  if (ranks === undefined) return {};
  const { rank, size, leader } = ranks;
  const { engineId: replicaId, index: replica, number } = leader();
  const replicaName = engineName(role, number);
  return { dataParallel: { rank, size, replicaId, replica, replicaName } };
}
