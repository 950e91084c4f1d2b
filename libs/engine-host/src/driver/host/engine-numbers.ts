import type { EnginePresence } from '@baton/contract';
import type { EngineIdentity } from '../../live-engine/engine/engine-identity';
import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { PoolNode } from '../../live-engine/pool/pool-node';
import type { EngineStats } from '@baton/telemetry';
import { hostname } from 'node:os';
import type { Executor } from '../jobs/executor';
import type { DriverOptions } from '../options';
import { engineCounters } from './engine-counters';
import { engineGauges, type EngineGaugesParts } from './engine-gauges';

export interface EngineNumbersParts {
  readonly identity: EngineIdentity;
  readonly options: Pick<DriverOptions, 'facts' | 'hostTier' | 'stepTimes'>;
  readonly slot: EngineSlot;
  /** Undefined: there is no KV pool. */
  readonly poolNode: PoolNode | undefined;
  readonly stats: EngineStats;
  readonly gauges: EngineGaugesParts;
  /** Undefined: the engine does the work. */
  readonly executor: Executor | undefined;
}

/** Smaller changes of the lateness are published with the next change of another number. */
const LATENESS_GRAIN_MS = 100;

/** Everything that one engine publishes to the cluster, at this instant. */
export class EngineNumbers {
  constructor(private readonly parts: EngineNumbersParts) {}

  snapshot(): EnginePresence {
    const { identity, options, stats, gauges, executor } = this.parts;
    const numbers = executor?.numbers();
    return {
      engineId: identity.engineId,
      stage: identity.role,
      index: identity.index,
      ...dataParallel(identity),
      pid: process.pid,
      host: hostname(),
      model: options.facts.model,
      ...originOf(options),
      state: identity.state,
      ...(identity.loading !== undefined && { loading: identity.loading }),
      gauges: engineGauges(gauges, numbers?.isUp),
      counters: engineCounters(this.parts, numbers),
      histograms: stats.histograms(),
    };
  }

  /**
   * A number that changes with every event that a reader of the presence can wait for. The numbers
   * of an executor can change at any time.
   */
  fingerprint(): string {
    const { slot, stats, gauges, executor } = this.parts;
    const { running, waiting, deferred, freeBlocks, heldBlocks } = slot.engine.snapshot();
    const lateness = Math.round(gauges.transport.processClock.latenessMs() / LATENESS_GRAIN_MS);
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
  dataParallel: ranks,
}: EngineIdentity): Pick<EnginePresence, 'dataParallel'> {
  if (ranks === undefined) return {};
  const { rank, size, leader } = ranks;
  const { engineId: replicaId, index: replica } = leader();
  return { dataParallel: { rank, size, replicaId, replica } };
}
