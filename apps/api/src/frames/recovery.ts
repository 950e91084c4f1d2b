import { PeriodicTimer } from '@baton/clock';
import { type EndReason, STAGES } from '@baton/contract';
import { engineQueue, sharedQueue } from '@baton/engine-host';
import type { QueueName, RequestView } from '@baton/transport';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ClusterView } from '../cluster/cluster-view';
import { Config, Log, Broker } from '../tokens';
import { Aborter } from './aborter';
import { JobMover } from './job-mover';
import { Resender } from './resender';
import { Resubmitter } from './resubmitter';
import type { Sequence } from '../sequences/sequence';
import { SequenceTable } from '../sequences/sequence-table';

const SWEEP_EVERY_MS = 500;
/** Sequences looked up in one sweep; the others follow in the next sweeps. */
const MAX_INSPECTIONS = 512;
/** A living engine that does not answer for its request this often in a row has lost it. */
const MAX_UNANSWERED = 4;
/** Jobs without a sign of life are submitted again this often. */
const MAX_REVIVALS = 3;

/**
 * Handles silent sequences: requests the missing frames from the engine, reads the ledger, submits
 * again what the broker lost, and ends what cannot go on. One sweep every 500 ms, or once a second
 * in an idle process, and the connection events of the broker drive it; it never touches a sequence
 * that makes progress.
 */
@Injectable()
export class Recovery implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: PeriodicTimer | undefined;
  private disconnectedMs: number | undefined;
  private isSweeping = false;
  private sweptMs = performance.now();
  private sweptAwakeMs = 0;
  /** Cached within one sweep. */
  private readonly emptyQueues = new Map<QueueName, Promise<boolean>>();

  constructor(
    private readonly transport: Broker,
    private readonly config: Config,
    private readonly logger: Log,
    private readonly table: SequenceTable,
    private readonly resubmitter: Resubmitter,
    private readonly aborter: Aborter,
    private readonly resender: Resender,
    private readonly cluster: ClusterView,
    private readonly jobMover: JobMover,
  ) {}

  onApplicationBootstrap(): void {
    this.transport.onConnection((event) => this.onConnection(event));
    this.sweptMs = performance.now();
    this.sweptAwakeMs = this.transport.processClock.awakeMs();
    const sweep = (): void => void this.sweep(performance.now());
    const mayBeSlow = (): boolean => this.table.size === 0 && this.disconnectedMs === undefined;
    this.timer = new PeriodicTimer(SWEEP_EVERY_MS, sweep, mayBeSlow);
  }

  onApplicationShutdown(): void {
    this.timer?.stop();
  }

  /** Silence of a sequence after which it is looked up, in ms. */
  private get silentMs(): number {
    return this.config.requestSilentAfter * 1_000;
  }

  /** Age of a gap after which its sequence is looked up, in ms. */
  private get gapMs(): number {
    return this.config.requestGapAfter * 1_000;
  }

  /** Silence of a sequence without a job after which its job counts as lost, in ms. */
  private get lostMs(): number {
    return this.config.requestLostAfter * 1_000;
  }

  async sweep(nowMs: number): Promise<void> {
    this.endHopeless(nowMs);
    if (this.isSweeping || !this.transport.isConnected) return;
    this.isSweeping = true;
    try {
      this.aborter.retry();
      await this.inspect(this.silent(nowMs), nowMs);
    } catch (error) {
      this.logger.debug(
        { err: error },
        'a sweep over silent requests failed; the next one retries',
      );
    } finally {
      this.isSweeping = false;
    }
  }

  /** No caller waits for a sweep, so a throw of an owner would end the process. */
  private endHopeless(nowMs: number): void {
    try {
      this.grantPause(nowMs);
      this.endWithoutBroker(nowMs);
      this.endWithoutEngine();
    } catch (error) {
      this.logger.error({ err: error }, 'ending a request failed; the next sweep continues');
    }
  }

  /** A pause of this process does not count as silence of an engine. */
  private grantPause(nowMs: number): void {
    const awakeMs = this.transport.processClock.awakeMs();
    const wallMs = performance.now();
    const pausedMs = wallMs - this.sweptMs - (awakeMs - this.sweptAwakeMs);
    this.sweptMs = wallMs;
    this.sweptAwakeMs = awakeMs;
    if (pausedMs < SWEEP_EVERY_MS) return;
    if (this.disconnectedMs !== undefined) this.disconnectedMs += pausedMs;
    for (const sequence of this.table) sequence.grant(pausedMs, nowMs);
  }

  private onConnection(event: 'lost' | 'restored' | 'replaced'): void {
    this.logger.warn({ event }, 'broker connection');
    if (event === 'lost') {
      this.disconnectedMs ??= performance.now();
      return;
    }
    this.disconnectedMs = undefined;
    if (event === 'replaced') void this.resubmitAll();
  }

  /**
   * Handles a restart of the broker: queues and records can be lost. The higher submission number
   * fences out jobs that still exist.
   */
  private async resubmitAll(): Promise<void> {
    const sequences = [...this.table];
    this.logger.warn(
      { sequences: sequences.length },
      'the broker has restarted; submitting its requests again',
    );
    try {
      await this.cluster.announce();
      await Promise.all(sequences.map((sequence) => this.resubmitter.resubmit(sequence)));
    } catch (error) {
      // The sweep finds sequences still without a job: no record, silent, queue empty.
      this.logger.warn(
        { err: error },
        'submitting again was interrupted; the next sweep continues',
      );
    }
  }

  private endWithoutBroker(nowMs: number): void {
    const since = this.disconnectedMs;
    if (since === undefined) return;
    const graceMs = this.config.brokerGrace * 1_000;
    for (const sequence of this.table) {
      if (nowMs - Math.max(sequence.heardMs, since) < graceMs) continue;
      sequence.owner.onFailure(sequence, 'broker_unavailable');
    }
  }

  /** A job for one engine only cannot move to another. */
  private endWithoutEngine(): void {
    const lost = new Set<string>();
    for (const sequence of this.table) {
      const { engineId } = sequence.job;
      if (engineId === undefined || !this.cluster.hasLost(engineId)) continue;
      lost.add(engineId);
      sequence.owner.onFailure(sequence, 'worker_lost');
    }
    for (const sequence of this.table) this.endUnserved(sequence);
    for (const engineId of lost) {
      void this.jobMover.abandon(engineId).catch(() => undefined);
    }
  }

  /** The sequence waits in the queue of a stage that has had no engine for a while. */
  private endUnserved(sequence: Sequence): void {
    const stage = sequence.waitingIn;
    if (stage === undefined || this.cluster.isReady(stage)) return;
    if (!this.cluster.wasReadyLately(stage)) sequence.owner.onFailure(sequence, 'no_engine');
  }

  private silent(nowMs: number): Sequence[] {
    const silent = [...this.table].filter((sequence) => {
      if (nowMs - sequence.inspectedMs < this.gapMs) return false;
      const isGap = sequence.gapMs !== undefined && nowMs - sequence.gapMs >= this.gapMs;
      const quietMs = nowMs - Math.max(sequence.heardMs, sequence.inspectedMs);
      return isGap || quietMs >= this.silentMs;
    });
    silent.sort((a, b) => a.inspectedMs - b.inspectedMs);
    return silent.slice(0, MAX_INSPECTIONS);
  }

  private async inspect(sequences: readonly Sequence[], nowMs: number): Promise<void> {
    if (sequences.length === 0) return;
    for (const sequence of sequences) sequence.inspectedMs = nowMs;
    const ids = sequences.map(({ job }) => job.requestId);
    const views = await this.transport.ledger.inspect(ids);
    this.emptyQueues.clear();
    for (const [i, sequence] of sequences.entries()) {
      if (sequence.isOver) continue;
      const view = views[i];
      if (view) await this.act(sequence, view, nowMs);
      else if (await this.isLost(sequence, nowMs)) await this.revive(sequence, nowMs);
    }
  }

  private async act(sequence: Sequence, view: RequestView, nowMs: number): Promise<void> {
    const { result } = view;
    if (view.isAborted && view.stage === 'finished') {
      this.conclude(sequence, { reason: 'abort', tokens: sequence.received, errorCode: undefined });
    } else if (view.epoch < sequence.epoch) {
      // A new broker has the record from an older run; the resubmission did not arrive.
      if (nowMs - sequence.heardMs >= this.lostMs) await this.revive(sequence, nowMs);
    } else if (view.isAborted) {
      // This process did not end the sequence, so another process has declared this one dead.
      await this.revive(sequence, nowMs);
    } else if (result) {
      const { reason, tokens, errorCode } = result;
      this.conclude(sequence, { reason, tokens, errorCode });
    } else if (view.awaitsRun && (await this.hasNoJob(sequence, nowMs))) {
      await this.revive(sequence, nowMs);
    } else if (view.stage !== 'finished' && view.engineId !== '') {
      await this.askEngine(sequence, view, nowMs);
    }
  }

  /**
   * An engine that runs the request answers, even when there is nothing new. Another engine runs
   * the jobs of one that left the cluster.
   */
  private async askEngine(sequence: Sequence, view: RequestView, nowMs: number): Promise<void> {
    const { engineId, awaitsRun } = view;
    const engine = this.cluster.find(engineId);
    if (awaitsRun || engine === undefined) sequence.unanswered = 0;
    else sequence.unanswered += 1;
    const latenessMs = engine?.gauges.latenessMs ?? 0;
    const more = this.transport.processClock.moreTries(latenessMs, this.silentMs);
    if (sequence.unanswered > MAX_UNANSWERED + more) await this.revive(sequence, nowMs);
    else this.resender.send(sequence, engineId);
  }

  private conclude(sequence: Sequence, end: LedgerEnd): void {
    const from = sequence.received;
    const verdict = sequence.conclude(end.reason, end.tokens, end.errorCode);
    if (verdict === 'failed') {
      sequence.owner.onFailure(sequence, sequence.errorCode ?? 'engine_error');
    } else if (verdict === 'ended') {
      sequence.owner.onEnd(sequence, from);
    }
    sequence.owner.flush();
  }

  /**
   * For a sequence without a record: either no engine has begun it yet, or the broker lost both job
   * and record.
   */
  private async isLost(sequence: Sequence, nowMs: number): Promise<boolean> {
    if (sequence.epoch > 0) return true;
    if (nowMs - sequence.heardMs < this.lostMs) return false;
    return this.isEmpty(sequence.queue);
  }

  /**
   * The record waits for a run, and no queue has a job that could open it: the broker went away
   * between the record's change and the job.
   */
  private async hasNoJob({ heardMs, queue, job }: Sequence, nowMs: number): Promise<boolean> {
    if (nowMs - heardMs < this.lostMs) return false;
    const shared = STAGES.map((stage) => sharedQueue(stage, job.dataParallelRank));
    const own = this.cluster.living().map(({ engineId }) => engineQueue(engineId));
    const queues = [...new Set([queue, ...shared, ...own])];
    return (await Promise.all(queues.map((each) => this.isEmpty(each)))).every(Boolean);
  }

  /** One look-up per queue and sweep, for any number of its sequences. */
  private isEmpty(queue: QueueName): Promise<boolean> {
    const known = this.emptyQueues.get(queue);
    if (known) return known;
    const isEmpty = this.transport.jobs.waiting(queue).then((waiting) => waiting === 0);
    this.emptyQueues.set(queue, isEmpty);
    return isEmpty;
  }

  private async revive(sequence: Sequence, nowMs: number): Promise<void> {
    if (sequence.revivals >= MAX_REVIVALS) {
      sequence.owner.onFailure(sequence, 'attempts_exhausted');
      return;
    }
    sequence.revivals += 1;
    sequence.inspectedMs = nowMs;
    this.logger.warn({ requestId: sequence.job.requestId }, 'a job is lost; submitting it again');
    await this.resubmitter.resubmit(sequence);
  }
}

interface LedgerEnd {
  readonly reason: EndReason;
  readonly tokens: number;
  readonly errorCode: string | undefined;
}
