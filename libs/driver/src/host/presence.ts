import { hostname } from 'node:os';
import type { Alarm } from '@baton/clock';
import type { EngineGauges, EnginePresence, HandoffState } from '@baton/contract';
import type { EngineCounters } from '@baton/engine';
import type { Micros } from '@baton/kernel';
import { acceptedAt, type OptionalKey } from '@baton/telemetry';
import type { Run } from '../jobs/run';
import type { LagWindow } from '../steps/lag-window';
import { ConservationAudit } from './conservation-audit';
import type { ExecutorNumbers } from './executor';
import type { HostContext } from './host-context';

/** vLLM's info of LoRA adapters tells those with a sequence in a batch from those of which all sequences wait. */
function adaptersInHand(runs: readonly Run[]): Pick<EngineGauges, 'adapters'> {
  const named = runs.filter(({ job }) => job.adapter !== undefined);
  if (named.length === 0) return {};
  const names = (some: readonly Run[]): string[] =>
    [...new Set(some.flatMap(({ job }) => job.adapter ?? []))].sort();
  const running = names(named.filter(({ isScheduled }) => isScheduled));
  const waiting = names(named).filter((name) => !running.includes(name));
  return { adapters: { running, waiting } };
}

/** A quiet engine says every second that it lives; one whose numbers change says so five times as often. */
const LOOK_EVERY_US = 200_000;
const LOOKS_PER_SECOND = 5;

export interface PresenceOptions {
  readonly lag: LagWindow;
  /** Simulated length of the last step. */
  readonly stepUs: () => Micros;
  /** Counters of engines that have been replaced. */
  readonly formerCounters: () => EngineCounters;
  readonly handoffs: () => Readonly<Record<HandoffState, number>>;
  readonly sleepLevel: () => 0 | 1 | 2;
  /** Undefined for an engine that simulates. */
  readonly executor: () => ExecutorNumbers | undefined;
}

/** Tells the cluster that this engine lives, what it does, and all its numbers. */
export class PresenceBeacon {
  private alarm: Alarm | undefined;
  /** vLLM's engine number, once the cluster has given it. */
  index = 0;
  private isAnnouncing = false;
  private looks = 0;
  private announced = '';
  state: EnginePresence['state'] = 'starting';
  private readonly audit: ConservationAudit;

  constructor(
    private readonly context: HostContext,
    private readonly options: PresenceOptions,
  ) {
    this.audit = new ConservationAudit(context);
  }

  /** Resolves when the cluster knows this engine for the first time. */
  async start(): Promise<void> {
    this.repeat();
    await this.announce();
  }

  /** At once, after a change of state. */
  async enter(state: EnginePresence['state']): Promise<void> {
    this.state = state;
    await this.announce();
  }

  async stop(): Promise<void> {
    this.alarm?.cancel();
    await this.context.transport.presence.removeEngine(this.context.engineId);
  }

  snapshot(): EnginePresence {
    const { engineId, options, stats } = this.context;
    return {
      engineId,
      stage: options.role,
      index: this.index,
      ...this.dataParallel(),
      pid: process.pid,
      host: hostname(),
      model: options.facts.model,
      state: this.state,
      gauges: this.gauges(),
      counters: { ...stats.counters(), ...this.engineCounters() },
      histograms: stats.histograms(),
    };
  }

  private dataParallel(): Pick<EnginePresence, 'dataParallel'> {
    const { dataParallel } = this.context.options;
    if (dataParallel === undefined) return {};
    const { rank, size, leader } = dataParallel;
    const { engineId: replicaId, index: replica } = leader();
    return { dataParallel: { rank, size, replicaId, replica } };
  }

  private repeat(): void {
    const { wall } = this.context.clock;
    this.alarm = wall.around(wall.nowUs() + LOOK_EVERY_US, () => {
      this.repeat();
      this.looks += 1;
      const isDue = this.looks >= LOOKS_PER_SECOND || this.fingerprint() !== this.announced;
      if (!isDue || this.isAnnouncing || !this.context.transport.isConnected) return;
      this.announce().catch((error: unknown) => {
        this.context.log.debug({ err: error }, 'presence not announced');
      });
    });
  }

  /** Changes with everything that somebody may be waiting to see. */
  private fingerprint(): string {
    const { running, waiting, deferred, freeBlocks, heldBlocks } = this.context.engine.snapshot();
    const { steps } = this.context.engine.counters;
    return [steps, running, waiting, deferred, freeBlocks, heldBlocks].join();
  }

  private async announce(): Promise<void> {
    const { presence, punctuality } = this.context.transport;
    this.isAnnouncing = true;
    this.looks = 0;
    this.announced = this.fingerprint();
    try {
      this.index = await presence.claimIndex(this.context.engineId);
      const ttlMs = Math.round(punctuality.leaseMs(this.context.options.presenceTtlMs));
      await presence.announceEngine(this.snapshot(), ttlMs);
    } finally {
      this.isAnnouncing = false;
    }
  }

  private gauges(): EngineGauges {
    const { engine, options } = this.context;
    const now = engine.snapshot();
    return {
      running: now.running,
      waitingCapacity: now.waiting,
      waitingDeferred: now.deferred,
      kvUsage: now.kvUsage,
      heldBlocks: now.heldBlocks,
      numBlocks: options.facts.numBlocks,
      clockLagMs: this.options.lag.p99Us() / 1_000,
      latenessMs: Math.round(this.context.transport.punctuality.latenessMs()),
      handoffs: this.options.handoffs(),
      sleepLevel: this.options.sleepLevel(),
      lostBlocks: this.audit.lostBlocks(),
      ...this.upstreamState(),
      ...adaptersInHand(this.context.runs.all()),
      stepMs: this.options.stepUs() / 1_000,
    };
  }

  private upstreamState(): Pick<EngineGauges, 'upstreamUp'> {
    const numbers = this.options.executor();
    return numbers === undefined ? {} : { upstreamUp: numbers.isUp ? 1 : 0 };
  }

  private engineCounters(): Record<string, number> {
    const former = this.options.formerCounters();
    const { counters } = this.context.engine;
    const sum = (key: keyof EngineCounters): number => counters[key] + former[key];
    const computed = sum('promptTokensComputed');
    const cached = sum('promptTokensCached');
    const transferred = sum('promptTokensTransferred');
    return {
      steps: sum('steps'),
      num_preemptions: sum('preemptions'),
      generation_tokens: this.context.stats.count('generation_tokens') + sum('generatedTokens'),
      prefix_cache_queries: sum('prefixQueriesTokens'),
      prefix_cache_hits: sum('prefixHitsTokens'),
      prompt_tokens: computed + cached + transferred,
      prompt_tokens_local_compute: computed,
      prompt_tokens_local_cache_hit: cached,
      prompt_tokens_external_kv_transfer: transferred,
      prompt_tokens_cached: cached + transferred,
      ...this.speculationCounters(sum),
      ...this.options.executor()?.counters,
      ...this.optionalCounters(sum('promptTokensLoadedFromHost')),
    };
  }

  /** Of what not every engine has. */
  private optionalCounters(tokensFromHost: number): Partial<Record<OptionalKey, number>> {
    const { hostTier, stepsOutsideRange } = this.context.options;
    const restarts = Number(process.env['BATON_RESTARTS'] ?? 0);
    const bytes = tokensFromHost * (hostTier?.bytesPerToken ?? 0);
    return {
      process_restarts: restarts,
      ...(stepsOutsideRange && { steps_outside_range: stepsOutsideRange() }),
      ...(hostTier && {
        prompt_tokens_from_host: tokensFromHost,
        kv_offload_load_bytes: bytes,
        kv_offload_load_seconds: bytes / hostTier.bytesPerSecond,
      }),
    };
  }

  /** None without speculation, as vLLM has these families only with it. */
  private speculationCounters(sum: (key: keyof EngineCounters) => number): Record<string, number> {
    const { acceptedPerPosition } = this.context.engine;
    if (acceptedPerPosition.length === 0) return {};
    const perPosition = acceptedPerPosition.map((count, position) => [acceptedAt(position), count]);
    return {
      spec_decode_num_drafts: sum('drafts'),
      spec_decode_num_draft_tokens: sum('draftTokens'),
      spec_decode_num_accepted_tokens: sum('acceptedTokens'),
      ...Object.fromEntries(perPosition),
    };
  }
}
