import { LiveClock } from '@baton/clock';
import type { EngineMessage, EnginePresence } from '@baton/contract';
import { leaseTimes, type TargetAction, TargetCoordinator, type TargetFact } from '@baton/handoff';
import { type Micros, unreachable } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { DropReason } from '../run/endings/ending-table';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot, WakeUp } from '../run/engine/engine-slot';
import { Mailbox } from '../run/engine/mailbox';
import { StepLoop } from '../run/engine/step-loop';
import { JobFaults } from '../run/faults/job-faults';
import { type Fetching, type Run, RunTable } from '../run/runs/run';
import { Broker, HostOptions } from '../run/tokens';
import { KvLoads } from './kv-loads';
import { Reservations } from './reservations';
import { Transfers } from './transfers';

type Action<K extends TargetAction['kind']> = Extract<TargetAction, { kind: K }>;
type Message<K extends EngineMessage['kind']> = Extract<EngineMessage, { kind: K }>;

type ReleaseName = Pick<Fetching['source'], 'engineId' | 'requestId' | 'generation'>;

/**
 * The target end of hand-overs: reserves blocks in the engine's order, requests the KV from the
 * holder, times the transfer and informs the engine when the KV has arrived. `FailedFetches`
 * decides what a failed fetch means.
 */
@Injectable()
export class TargetSide implements BeforeApplicationShutdown {
  private coordinator: TargetCoordinator;
  private readonly wakeUp: WakeUp;
  private isWakeUpDue = false;
  /** Of the living engines, wall ms. */
  private latenessMs: ReadonlyMap<string, number> = new Map();
  private join: (run: Run, readyUs: Micros) => void = () => undefined;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly clock: LiveClock,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly loop: StepLoop,
    private readonly mailbox: Mailbox,
    private readonly transport: Broker,
    private readonly jobFaults: JobFaults,
    private readonly stats: EngineStats,
    private readonly reservations: Reservations,
    private readonly loads: KvLoads,
    private readonly transfers: Transfers,
  ) {
    this.coordinator = this.newCoordinator();
    this.wakeUp = new WakeUp(clock, slot, () => this.tick());
  }

  /** The number of runs that wait for room. Above a limit the engine takes no more jobs. */
  get waitingForRoom(): number {
    return this.reservations.waiting;
  }

  handoffs(): Record<'waiting_for_blocks' | 'waiting_for_answer' | 'transferring', number> {
    const fetches = this.coordinator.snapshot();
    const countOf = (state: (typeof fetches)[number]['state']): number =>
      fetches.filter((fetch) => fetch.state === state).length;
    return {
      waiting_for_blocks: countOf('accepted'),
      waiting_for_answer: countOf('reading'),
      transferring: countOf('transferring'),
    };
  }

  /** Engines that are sources of fetches under way. */
  sources(): string[] {
    return [...new Set(this.coordinator.snapshot().map((fetch) => fetch.sourceId))];
  }

  /** @param join called when the KV of a run has arrived at `readyUs` */
  onArrival(join: (run: Run, readyUs: Micros) => void): void {
    this.join = join;
  }

  /**
   * The sequence enters the engine even while a step is under way; it gets blocks with the next
   * step.
   *
   * @param submit false when the engine can never run it
   */
  enter(run: Run, fetching: Fetching, submit: () => boolean): void {
    this.loop.enterBetween(run.causeUs, () => {
      if (run.state !== 'running') return;
      if (submit()) this.accept(run, fetching);
      else this.reject(run, fetching);
    });
  }

  /** The run's sequence is in the engine: its KV is to be fetched. */
  private accept(run: Run, fetching: Fetching): void {
    const { reservations, transfers, loop } = this;
    reservations.add(run, fetching);
    transfers.setup?.meet(fetching.source.engineId, loop.logicalUs(run.causeUs));
    this.observe({
      kind: 'accepted',
      requestId: run.job.requestId,
      epoch: run.epoch,
      source: fetching.source,
      nowUs: this.clock.nowUs(),
    });
    // Only the begin of a step gives blocks to the run, also in an idle engine.
    loop.enter(run.causeUs);
  }

  /** The engine cannot use the holding of this name. */
  decline(source: Fetching['source']): void {
    this.sendRelease(source);
  }

  /** This engine can never serve the run: the holder may free the blocks. */
  private reject(run: Run, fetching: Fetching): void {
    const { requestId } = run.job;
    const { source } = fetching;
    this.observe({
      kind: 'rejected',
      requestId,
      epoch: run.epoch,
      source,
      nowUs: this.clock.nowUs(),
    });
  }

  /**
   * A step has begun at `startUs`, or could not: starts the reads for which the engine found room.
   */
  reserve(startUs: Micros): boolean {
    return this.reservations.reserve(startUs, ({ job, epoch }, missing) => {
      const { requestId } = job;
      const { missingTokens, missingBlocks } = missing;
      this.observe({
        kind: 'reserved',
        requestId,
        missingTokens,
        missingBlocks,
        epoch,
        nowUs: this.clock.nowUs(),
      });
    });
  }

  dropRun(run: Run, why: DropReason): void {
    this.reservations.delete(run);
    const { requestId } = run.job;
    const nowUs = this.clock.nowUs();
    if (why === 'aborted') this.observe({ kind: 'aborted', requestId, nowUs });
    else this.observe({ kind: 'superseded', requestId, epoch: run.epoch, nowUs });
  }

  onReadAnswer(answer: Message<'read-answer'>): void {
    const { readerRequestId: requestId, ...rest } = answer;
    const fetching = this.runs.get(requestId)?.fetching;
    if (fetching && answer.isInjected === true) fetching.hasInjectedFault = true;
    this.observe({ ...rest, kind: 'read-answered', requestId, nowUs: this.clock.nowUs() });
  }

  onReadShare({ from, activeReads }: Message<'read-share'>): void {
    this.observe({ kind: 'share-changed', from, activeReads, nowUs: this.clock.nowUs() });
  }

  onSourceLost(engineId: string): void {
    this.observe({ kind: 'source-lost', engineId, nowUs: this.clock.nowUs() });
  }

  onLiving(engines: readonly EnginePresence[]): void {
    this.latenessMs = new Map(
      engines.map(({ engineId, gauges }) => [engineId, gauges.latenessMs ?? 0]),
    );
  }

  /** The engine has been replaced: all fetches end. */
  reset(): void {
    this.transfers.reset();
    this.coordinator = this.newCoordinator();
    this.reservations.clear();
  }

  beforeApplicationShutdown(): void {
    this.transfers.stop();
    this.wakeUp.cancel();
  }

  private newCoordinator(): TargetCoordinator {
    const { options, clock, transfers } = this;
    const { ports, isTimedByTokens = false } = options.facts.link;
    const { bytesPerBlock } = transfers.shape;
    return new TargetCoordinator({
      lease: leaseTimes(options.kvLeaseUs),
      // Wall time: a timeout of the infrastructure does not scale with speedup.
      answerWithinUs: Math.round(options.kvReadTimeoutUs * clock.speedup),
      mayBeLate: (engineId, tries) => this.mayBeLate(String(engineId), tries),
      ports,
      bytesPerBlock,
      isTimedByTokens,
      bytesPerToken: options.facts.kvBytesPerToken,
    });
  }

  /** Whether a source that has not answered `tries` reads may be late instead of lost. */
  private mayBeLate(engineId: string, tries: number): boolean {
    const sourceMs = this.latenessMs.get(engineId);
    if (sourceMs === undefined) return false;
    const { options, transport } = this;
    return tries < 1 + transport.processClock.moreTries(sourceMs, options.kvReadTimeoutUs / 1_000);
  }

  private tick(): void {
    this.observe({ kind: 'tick', nowUs: this.clock.nowUs() });
  }

  private observe(fact: TargetFact): void {
    const { options, identity } = this;
    const actions = this.coordinator.handle(fact);
    options.onHandoff?.({ side: 'target', engineId: identity.engineId, fact, actions });
    for (const action of actions) this.carryOut(action);
    this.setWakeUp();
  }

  /** In the next turn, when a heartbeat that a read of this turn replaces is no longer due. */
  private setWakeUp(): void {
    if (this.isWakeUpDue) return;
    this.isWakeUpDue = true;
    this.clock.wall.soon(() => {
      this.isWakeUpDue = false;
      this.wakeUp.set(this.coordinator.nextWakeUpUs());
    });
  }

  private carryOut(action: TargetAction): void {
    const { transfers } = this;
    switch (action.kind) {
      case 'send-read':
        return this.sendRead(action);
      case 'send-read-end':
        return this.sendReadEnd(action);
      case 'send-heartbeats':
        return this.sendHeartbeats(action);
      case 'send-release':
        return this.sendRelease({ ...action, engineId: action.to });
      case 'start-transfer':
        return this.startTransfer(action);
      case 'set-share':
        return transfers.setShare(action.sourceId, action.activeReads);
      case 'cancel-transfer':
        return transfers.cancel(action.requestId, action.epoch);
      case 'kv-ready':
        return this.onKvReady(action);
      case 'kv-failed':
        return this.onKvFailed(action);
      default:
        return unreachable(action);
    }
  }

  private sendRead(action: Action<'send-read'>): void {
    const { mailbox, identity, runs, jobFaults } = this;
    const { requestId, epoch, generation, attempt, readerRequestId } = action;
    const run = runs.get(readerRequestId);
    const { claim, claimedTokens } = run?.fetching ?? {};
    const isToExpire = run?.job.faults !== undefined && jobFaults.expiresLease(run);
    mailbox.send(action.to, {
      kind: 'read',
      from: identity.engineId,
      requestId,
      epoch,
      generation,
      attempt,
      readerRequestId,
      ...(claim === undefined ? {} : { claim }),
      ...(claimedTokens === undefined ? {} : { claimedTokens }),
      ...(isToExpire ? { expires: true as const } : {}),
    });
  }

  private sendReadEnd({ kind: _kind, to, ...end }: Action<'send-read-end'>): void {
    const { mailbox, identity, transport, stats } = this;
    if (!transport.isConnected) stats.add('nixl_num_failed_notifications');
    mailbox.send(to, { kind: 'read-end', from: identity.engineId, ...end });
  }

  private sendHeartbeats({ to, requestIds }: Action<'send-heartbeats'>): void {
    const { mailbox, identity } = this;
    mailbox.send(to, { kind: 'heartbeat', from: identity.engineId, requestIds });
  }

  /** Tells the source that this engine will not read the holding of this name. */
  private sendRelease({ engineId, requestId, generation }: ReleaseName): void {
    const { mailbox, identity } = this;
    const from = identity.engineId;
    mailbox.send(engineId, { kind: 'release', from, requestId, generation });
  }

  private startTransfer(action: Action<'start-transfer'>): void {
    const run = this.currentRun(action);
    if (run === undefined) return;
    this.loads.start(run, action, (completedUs) => {
      const { job, epoch } = run;
      const { requestId } = job;
      this.observe({ kind: 'transfer-done', requestId, epoch, nowUs: completedUs });
    });
  }

  private onKvReady(action: Action<'kv-ready'>): void {
    const run = this.currentRun(action);
    const readyUs = run && this.loads.arrived(run, action);
    if (run && readyUs !== undefined) this.join(run, readyUs);
  }

  private onKvFailed(action: Action<'kv-failed'>): void {
    const run = this.currentRun(action);
    if (run === undefined) return;
    this.reservations.delete(run);
    this.loads.failed(run, action.why);
  }

  private currentRun(of: { requestId: string; epoch: number }): Run | undefined {
    const run = this.runs.get(of.requestId);
    return run?.epoch === of.epoch ? run : undefined;
  }
}
