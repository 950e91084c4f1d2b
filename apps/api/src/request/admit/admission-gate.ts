import { BatonError, type EnginePresence, STAGES, type Stage } from '@baton/contract';
import { retryAfterSeconds } from '@baton/policies';
import { Injectable } from '@nestjs/common';
import { TurnBatch } from '../../cluster/turn-batch';
import { ApiIdentity, Config, Broker } from '../../tokens';
import { OwnEntries } from './own-entries';

const BUCKET_MS = 1_000;
const BUCKETS = 10;

/** The stage in whose queue a sequence is counted as waiting; undefined for none. */
interface Waiting {
  waitingIn: Stage | undefined;
}

interface Entry {
  readonly stage: Stage;
  readonly count: number;
}

/**
 * Limits the waiting requests. Owns this process's share of the cluster-wide counts of waiting
 * sequences. Far from the limit this process admits a request and counts it afterwards; near the
 * limit one atomic decision of the broker does both. News of the sequence end its wait. A sequence
 * is counted in one stage at a time, so that repeated or lost events never make the counts drift.
 */
@Injectable()
export class AdmissionGate {
  private readonly batch = new TurnBatch<Entry>((entries) => this.decide(entries));
  private readonly unsent: Record<Stage, number> = { prefill: 0, decode: 0, aggregated: 0 };
  private readonly drain = Object.fromEntries(
    STAGES.map((stage) => [stage, new DrainRate()]),
  ) as Record<Stage, DrainRate>;
  private readonly own = new OwnEntries();
  /** Waiting sequences in the cluster, as last read. */
  waiting: Readonly<Record<Stage, number>> = { prefill: 0, decode: 0, aggregated: 0 };
  private readonly latenessMs: Record<Stage, number> = { prefill: 0, decode: 0, aggregated: 0 };
  private isSending = false;
  private isScheduled = false;

  constructor(
    private readonly transport: Broker,
    private readonly identity: ApiIdentity,
    private readonly config: Config,
  ) {}

  /** False for more sequences than may wait for one stage, of all requests. */
  canEverHold(count: number): boolean {
    return count <= this.config.maxWaitingRequests;
  }

  /**
   * Counts `count` sequences into the queue of `stage`; call `leave` if they are not submitted.
   * `next` is the stage after it, whose queue must not be full either. Throws `queue_full`.
   */
  async enter(stage: Stage, count: number, next?: Stage): Promise<void> {
    if (next !== undefined && this.waiting[next] >= this.limitOf(next)) throw this.full(next);
    if (this.own.tryEnter(stage, count, this.limitOf(stage))) this.shift(stage, count);
    else if (!(await this.batch.add({ stage, count }))) throw this.full(stage);
  }

  /** Removes `count` sequences that entered and were never submitted. */
  leave(stage: Stage, count: number): void {
    this.shift(stage, -count);
  }

  /** Records that the sequence now waits in the queue of `stage`; undefined: in none. */
  moved(sequence: Waiting, stage: Stage | undefined): void {
    const before = sequence.waitingIn;
    if (before === stage) return;
    sequence.waitingIn = stage;
    if (before !== undefined) {
      this.shift(before, -1);
      this.drain[before].add(1, performance.now());
    }
    if (stage !== undefined) this.shift(stage, 1);
  }

  /** Reads the smallest lateness of the engines of each stage. */
  noteEngines(engines: readonly EnginePresence[]): void {
    for (const stage of STAGES) {
      const own = engines.filter((engine) => engine.stage === stage && engine.state === 'ready');
      const latenesses = own.map(({ gauges }) => gauges.latenessMs ?? 0);
      this.latenessMs[stage] = own.length === 0 ? 0 : Math.min(...latenesses);
    }
  }

  async refreshTotals(): Promise<void> {
    // Without a send under way the counts include every admitted sequence.
    const marked = this.isScheduled || this.isSending ? undefined : this.own.mark();
    this.waiting = await this.transport.admission.totals();
    this.own.read(this.waiting, marked);
  }

  /**
   * The limit is lower for a stage whose engines are all starved, and in a starved API: half when
   * the worst pause is twice `starved_after`, and so on.
   */
  private limitOf(stage: Stage): number {
    const { maxWaitingRequests, starvedAfter } = this.config;
    const ownMs = this.transport.processClock.latenessMs();
    const factor = Math.max(ownMs, this.latenessMs[stage]) / (starvedAfter * 1_000);
    return Math.max(1, Math.floor(maxWaitingRequests / Math.max(1, factor)));
  }

  private full(stage: Stage): BatonError {
    const perSecond = this.drain[stage].perSecond(performance.now());
    const seconds = retryAfterSeconds(this.limitOf(stage), perSecond);
    return new BatonError('queue_full', undefined, null, seconds);
  }

  /** Asks the broker once per stage for all entries of a turn; after a refusal, once per entry. */
  private async decide(entries: readonly Entry[]): Promise<readonly boolean[]> {
    const admitted = new Set<Entry>();
    try {
      for (const stage of STAGES) {
        const here = entries.filter((entry) => entry.stage === stage);
        await this.admit(stage, here, admitted);
      }
    } catch (error) {
      // All requests of the turn fail, so that none of them leaves later.
      for (const { stage, count } of admitted) this.leave(stage, count);
      throw error;
    }
    return entries.map((entry) => admitted.has(entry));
  }

  /** Adds the entries that are in to `admitted`. */
  private async admit(
    stage: Stage,
    entries: readonly Entry[],
    admitted: Set<Entry>,
  ): Promise<void> {
    if (entries.length === 0) return;
    const count = entries.reduce((sum, entry) => sum + entry.count, 0);
    const areAllIn = await this.tryEnter(stage, count);
    for (const entry of entries) {
      const isAlone = entries.length === 1;
      const isIn = areAllIn || (!isAlone && (await this.tryEnter(stage, entry.count)));
      if (isIn) admitted.add(entry);
    }
  }

  /** The counts of the broker lack the changes that this process has not sent yet. */
  private tryEnter(stage: Stage, count: number): Promise<boolean> {
    const limit = this.limitOf(stage) - Math.max(0, this.unsent[stage]);
    return this.transport.admission.tryEnter(this.identity.apiId, stage, count, limit);
  }

  private shift(stage: Stage, delta: number): void {
    this.unsent[stage] += delta;
    if (this.isSending || this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => void this.send());
  }

  /**
   * Sends one shift at a time; later changes go with the next. While the broker is unavailable the
   * transport keeps them.
   */
  private async send(): Promise<void> {
    this.isScheduled = false;
    this.isSending = true;
    while (STAGES.some((stage) => this.unsent[stage] !== 0)) {
      const [deltas, marked] = [{ ...this.unsent }, this.own.mark()];
      for (const stage of STAGES) this.unsent[stage] = 0;
      const { admission } = this.transport;
      const totals = await admission.shift(this.identity.apiId, deltas).catch(() => undefined);
      if (totals === undefined) continue;
      this.waiting = totals;
      this.own.read(totals, marked);
    }
    this.isSending = false;
  }
}

/** The number of requests that left a queue per second, over the last ten seconds. */
export class DrainRate {
  private readonly counts = new Float64Array(BUCKETS);
  private newest = 0;
  private firstMs: number | undefined;

  add(count: number, nowMs: number): void {
    this.firstMs ??= nowMs;
    this.roll(nowMs);
    this.counts[this.newest % BUCKETS] = (this.counts[this.newest % BUCKETS] ?? 0) + count;
  }

  perSecond(nowMs: number): number {
    if (this.firstMs === undefined) return 0;
    this.roll(nowMs);
    const spanMs = Math.min(Math.max(nowMs - this.firstMs, BUCKET_MS), BUCKETS * BUCKET_MS);
    return (this.counts.reduce((sum, count) => sum + count, 0) * 1_000) / spanMs;
  }

  private roll(nowMs: number): void {
    const bucket = Math.floor(nowMs / BUCKET_MS);
    const from = Math.max(this.newest + 1, bucket - BUCKETS + 1);
    for (let each = from; each <= bucket; each += 1) this.counts[each % BUCKETS] = 0;
    this.newest = Math.max(this.newest, bucket);
  }
}
