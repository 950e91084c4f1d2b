import { placerSpec } from '@baton/config';
import { type EnginePresence, type Stage, STAGES } from '@baton/contract';
import { engineQueue, sharedQueue } from '@baton/engine-host';
import { readAtScrape } from '@baton/telemetry';
import type { QueueName } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Config, Broker } from '../../tokens';
import { LiveSequences, type WaitingLeg, WaitingLegs, WaitingTotals } from '../port/state';

export const QUEUE_FAMILIES = [
  'baton:queue_depth',
  'baton:waiting_sequences',
  'baton:queue_age_seconds',
] as const;
const [DEPTH, WAITING, AGE] = QUEUE_FAMILIES;

type PerStage = Readonly<Record<Stage, number>>;

/** The number and age of requests that wait for each stage: the input of an autoscaler. */
@Injectable()
export class QueueMetrics {
  /** Jobs of each queue that no engine has taken, at the last refresh. */
  private counts: ReadonlyMap<QueueName, number> = new Map();
  private depths: PerStage = { prefill: 0, decode: 0, aggregated: 0 };
  /** True when jobs also wait in the engines' own queues. */
  private readonly isPlaced: boolean;

  constructor(
    private readonly config: Config,
    private readonly transport: Broker,
    private readonly totals: WaitingTotals,
    private readonly sequences: LiveSequences,
    private readonly legs: WaitingLegs,
    registry: Registry,
  ) {
    const { prefill, decode } = placerSpec(config);
    this.isPlaced = prefill !== 'pull' || decode !== 'pull' || config.exposeEngines;
    const help = 'Jobs in the queues of a stage that no engine has taken.';
    showByStage(registry, { name: DEPTH, help, read: () => this.depths });
    showByStage(registry, {
      name: WAITING,
      help:
        'Sequences that have not entered a batch of the stage, in its queues or in an ' +
        'engine, over all API processes.',
      read: () => totals.waiting,
    });
    showByStage(registry, {
      name: AGE,
      help: 'How long the oldest of these that this API process knows has been waiting.',
      aggregator: 'max',
      read: () => this.ages(performance.now()),
    });
  }

  /** Reads the broker; the last known values are shown while it is unavailable. */
  async refresh(engines: readonly EnginePresence[]): Promise<void> {
    const queues = new Set(STAGES.flatMap((stage) => this.queuesOf(stage, engines)));
    const counting = [...queues].map(
      async (queue) => [queue, await this.transport.jobs.waiting(queue)] as const,
    );
    const [counted] = await Promise.all([Promise.all(counting), this.totals.refreshTotals()]);
    this.counts = new Map(counted);
    this.depths = this.depthsOf(engines);
  }

  /**
   * The engines with the jobs that no engine has taken among their waiting requests, because the
   * waiting requests of a vLLM server are all that it has accepted. Jobs of a shared queue are
   * divided among its engines. A decode leg that waits for its prefill is deferred and has its
   * blocks, as vLLM allocates them when the request comes (`update_state_after_alloc`).
   *
   * @param sharing the engines of the whole cluster
   */
  withQueued(
    engines: readonly EnginePresence[],
    sharing: readonly EnginePresence[],
  ): EnginePresence[] {
    const legs = [...this.legs];
    return engines.map((engine) => {
      const own = this.countOf(engineQueue(engine.engineId));
      const shared = [...new Set(sharedQueuesOf(engine))].reduce((sum, queue) => {
        const takers = sharing.filter((other) => sharedQueuesOf(other).includes(queue));
        const place = takers.findIndex(({ engineId }) => engineId === engine.engineId);
        return sum + shareOf(this.countOf(queue), takers.length, place);
      }, 0);
      const waitingCapacity = engine.gauges.waitingCapacity + own + shared;
      const gauges = { ...engine.gauges, waitingCapacity };
      return { ...engine, gauges: this.withLegs(gauges, legsAt(engine, legs, sharing)) };
    });
  }

  private withLegs(
    gauges: EnginePresence['gauges'],
    legs: readonly WaitingLeg[],
  ): EnginePresence['gauges'] {
    if (legs.length === 0) return gauges;
    const { blockSize } = this.config;
    const blocks = legs.reduce((sum, leg) => sum + Math.ceil(leg.promptTokens / blockSize), 0);
    const kvUsage = Math.min(1, gauges.kvUsage + blocks / gauges.numBlocks);
    return { ...gauges, waitingDeferred: gauges.waitingDeferred + legs.length, kvUsage };
  }

  private depthsOf(engines: readonly EnginePresence[]): PerStage {
    const depthOf = (stage: Stage): number =>
      [...new Set(this.queuesOf(stage, engines))].reduce((sum, one) => sum + this.countOf(one), 0);
    return Object.fromEntries(STAGES.map((stage) => [stage, depthOf(stage)])) as PerStage;
  }

  private countOf(queue: QueueName): number {
    return this.counts.get(queue) ?? 0;
  }

  private queuesOf(stage: Stage, engines: readonly EnginePresence[]): QueueName[] {
    const here = engines.filter((engine) => engine.stage === stage);
    return [
      stage,
      ...here.flatMap(sharedQueuesOf),
      ...(this.isPlaced ? here.map(({ engineId }) => engineQueue(engineId)) : []),
    ];
  }

  /** Ages count from the last event of a sequence, which is the beginning of its wait. */
  private ages(nowMs: number): PerStage {
    const ages = { prefill: 0, decode: 0, aggregated: 0 };
    for (const { waitingIn, heardMs } of this.sequences) {
      if (waitingIn === undefined) continue;
      ages[waitingIn] = Math.max(ages[waitingIn], (nowMs - heardMs) / 1_000);
    }
    return ages;
  }
}

/** Legs for an engine: those at its own port, and its share of those for any decode engine. */
function legsAt(
  engine: EnginePresence,
  legs: readonly WaitingLeg[],
  sharing: readonly EnginePresence[],
): WaitingLeg[] {
  const takers = sharing.filter(({ stage }) => stage === 'decode');
  const place = takers.findIndex(({ engineId }) => engineId === engine.engineId);
  const shared = legs.filter(({ engineId }) => engineId === undefined);
  const own = legs.filter(({ engineId }) => engineId === engine.engineId);
  return [...own, ...shared.filter((_leg, i) => i % takers.length === place)];
}

/** The queues from which an engine takes jobs beside its own one. */
function sharedQueuesOf({ stage, dataParallel }: EnginePresence): QueueName[] {
  return [stage, sharedQueue(stage, dataParallel?.rank)];
}

/** A whole number for each of several takers; together they have the count. */
function shareOf(count: number, takers: number, place: number): number {
  return Math.floor((count + takers - 1 - place) / takers);
}

interface StageHead {
  readonly name: string;
  readonly help: string;
  readonly aggregator?: 'max';
  readonly read: () => PerStage;
}

function showByStage(registry: Registry, { read, ...head }: StageHead): void {
  const samples = (values: PerStage) =>
    STAGES.map((stage) => ({ labels: { stage }, value: values[stage] }));
  readAtScrape(registry, {
    aggregator: 'first',
    ...head,
    type: 'gauge',
    read: () => samples(read()),
  });
}
