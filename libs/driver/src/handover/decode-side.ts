import type { EngineMessage, EnginePresence } from '@baton/contract';
import {
  type FetchFailure,
  leaseTimes,
  type TargetAction,
  TargetCoordinator,
  type TargetFact,
} from '@baton/handoff';
import { type Micros, secondsToUs, unreachable } from '@baton/kernel';
import type { HostContext } from '../host/host-context';
import type { Mailbox } from '../host/mailbox';
import type { LettingGo } from '../jobs/endings';
import type { JobFaults } from '../jobs/job-faults';
import type { Fetching, Run } from '../jobs/run';
import { WakeUp } from '../steps/wake-up';
import type { FailedFetches } from './failed-fetches';
import { Transfers } from './transfers';

type Action<K extends TargetAction['kind']> = Extract<TargetAction, { kind: K }>;
type Message<K extends EngineMessage['kind']> = Extract<EngineMessage, { kind: K }>;

/** A read is asked twice, each time waiting this long (wall): an infrastructure timeout, which does not scale with speedup. */
/** A late source is asked for three times as long as it has lately been late, and at most 30 times more. */
const TRIES_MARGIN = 3;
const MAX_MORE_TRIES = 30;

/** What is decided elsewhere. */
export interface DecodeHelpers {
  readonly failed: FailedFetches;
  readonly jobFaults: JobFaults;
}

/**
 * The target end of hand-overs: reserves blocks in the order in which the engine wants them, asks the holder, times the transfer and tells the
 * engine when the KV is there. What a failed fetch means is decided by `FailedFetches`.
 */
export class DecodeSide {
  private coordinator: TargetCoordinator;
  private transfers: Transfers;
  private readonly wakeUp: WakeUp;
  private isWakeUpDue = false;
  /** Submitted runs for which the engine had no room yet. */
  private readonly unreserved = new Set<Run>();
  private sourceLatenessMs: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly context: HostContext,
    private readonly mailbox: Mailbox,
    private readonly helpers: DecodeHelpers,
  ) {
    this.coordinator = this.newCoordinator();
    this.transfers = this.newTransfers();
    this.wakeUp = new WakeUp(context.clock, () => context.guard(() => this.tick()));
  }

  /** Runs that wait for room, beyond which no more jobs should be taken. */
  get waitingForRoom(): number {
    return this.unreserved.size;
  }

  handoffs(): Record<'waiting_for_blocks' | 'waiting_for_answer' | 'transferring', number> {
    const fetches = this.coordinator.view();
    const countOf = (state: (typeof fetches)[number]['state']): number =>
      fetches.filter((fetch) => fetch.state === state).length;
    return {
      waiting_for_blocks: countOf('accepted'),
      waiting_for_answer: countOf('reading'),
      transferring: countOf('transferring'),
    };
  }

  /** What the board says of the engines that live. */
  onLiving(engines: readonly EnginePresence[]): void {
    this.sourceLatenessMs = new Map(
      engines.map(({ engineId, gauges }) => [engineId, gauges.latenessMs ?? 0]),
    );
  }

  /** Engines from which something is being fetched. */
  sources(): string[] {
    return [...new Set(this.coordinator.view().map((fetch) => fetch.sourceId))];
  }

  /** The run's sequence is in the engine: its KV is to be fetched. */
  accept(run: Run, fetching: Fetching): void {
    run.fetching = fetching;
    this.unreserved.add(run);
    this.tell({
      kind: 'accepted',
      requestId: run.job.requestId,
      epoch: run.epoch,
      source: fetching.source,
      nowUs: this.nowUs(),
    });
    // An engine at rest has to begin a step to give it blocks.
    this.context.loop.enter(run.causeUs, () => undefined);
  }

  /** Nobody here can use what is held under this name. */
  decline({ engineId, requestId, generation }: Fetching['source']): void {
    const from = this.context.engineId;
    this.mailbox.send(engineId, { kind: 'release', from, requestId, generation });
  }

  /** This engine can never serve it: the holder may free the blocks. */
  reject(run: Run, fetching: Fetching): void {
    const { requestId } = run.job;
    const { source } = fetching;
    this.tell({ kind: 'rejected', requestId, epoch: run.epoch, source, nowUs: this.nowUs() });
  }

  /** Starts to fetch for those to whom the step that began at `startUs` gave blocks; returns whether there were any. */
  reserve(startUs: Micros): boolean {
    const { engine, runs } = this.context;
    const waitedBefore = this.unreserved.size;
    while (this.unreserved.size > 0) {
      const reservation = engine.reserveNext();
      if (reservation === undefined) break;
      const run = runs.at(reservation.handle);
      if (run?.fetching === undefined) continue;
      this.unreserved.delete(run);
      // A loop that catches up begins steps before the instant at which the KV was held.
      const sinceUs = Math.max(startUs, run.causeUs);
      run.fetching.reservedUs = this.context.loop.logicalUs(sinceUs);
      run.fetching.missingTokens = reservation.missingTokens;
      const { reservedUs: atUs } = run.fetching;
      this.context.timelines.note(run, 'reserved', { atUs, tokens: reservation.missingTokens });
      this.onReserved(run, reservation.missingTokens);
    }
    return this.unreserved.size < waitedBefore;
  }

  letGo(run: Run, why: LettingGo): void {
    this.unreserved.delete(run);
    const { requestId } = run.job;
    const nowUs = this.nowUs();
    if (why === 'aborted') this.tell({ kind: 'aborted', requestId, nowUs });
    else this.tell({ kind: 'superseded', requestId, epoch: run.epoch, nowUs });
  }

  onReadAnswer(answer: Message<'read-answer'>): void {
    const { readerRequestId, ...rest } = answer;
    const fetching = this.context.runs.get(readerRequestId)?.fetching;
    if (fetching && answer.isInjected === true) fetching.hasInjectedFault = true;
    this.tell({ ...rest, kind: 'read-answered', requestId: readerRequestId, nowUs: this.nowUs() });
  }

  onReadShare({ from, activeReads }: Message<'read-share'>): void {
    this.tell({ kind: 'share-changed', from, activeReads, nowUs: this.nowUs() });
  }

  onSourceLost(engineId: string): void {
    this.tell({ kind: 'source-lost', engineId, nowUs: this.nowUs() });
  }

  reset(): void {
    this.transfers.stop();
    this.transfers = this.newTransfers();
    this.coordinator = this.newCoordinator();
    this.unreserved.clear();
  }

  stop(): void {
    this.transfers.stop();
    this.wakeUp.cancel();
  }

  private newCoordinator(): TargetCoordinator {
    const { options, clock } = this.context;
    return new TargetCoordinator({
      lease: leaseTimes(options.kvLeaseUs),
      answerWithinUs: Math.round(options.kvReadTimeoutUs * clock.speedup),
      mayBeLate: (engineId, tries) => this.mayBeLate(String(engineId), tries),
      bytesPerToken: options.facts.kvBytesPerToken,
    });
  }

  /** A source, or this process, was late: as many more questions as that patience covers. */
  private mayBeLate(engineId: string, tries: number): boolean {
    const sourceMs = this.sourceLatenessMs.get(engineId);
    if (sourceMs === undefined) return false;
    const lateUs = 1_000 * (sourceMs + this.context.transport.punctuality.latenessMs());
    const { kvReadTimeoutUs } = this.context.options;
    return tries < 1 + Math.min(MAX_MORE_TRIES, (TRIES_MARGIN * lateUs) / kvReadTimeoutUs);
  }

  private newTransfers(): Transfers {
    return new Transfers(this.context, (run, completedUs) => {
      const { requestId } = run.job;
      this.tell({ kind: 'transfer-done', requestId, epoch: run.epoch, nowUs: completedUs });
    });
  }

  private nowUs(): Micros {
    return this.context.clock.nowUs();
  }

  private tick(): void {
    this.tell({ kind: 'tick', nowUs: this.nowUs() });
  }

  /** What is too little to be worth a transfer counts as if nothing were missing: the holder may let go of it. */
  private onReserved(run: Run, tokens: number): void {
    const { kvRecomputeThreshold } = this.context.options;
    const isDeclined = run.stage === 'prefill' && tokens > 0 && tokens < kvRecomputeThreshold;
    if (run.fetching) run.fetching.isDeclined = isDeclined;
    const missingTokens = isDeclined ? 0 : tokens;
    this.context.stats.add('external_prefix_cache_queries', missingTokens);
    const { requestId } = run.job;
    this.tell({
      kind: 'reserved',
      ...{ requestId, missingTokens },
      epoch: run.epoch,
      nowUs: this.nowUs(),
    });
  }

  private tell(fact: TargetFact): void {
    const actions = this.coordinator.handle(fact);
    this.context.options.onHandoff?.({
      side: 'target',
      engineId: this.context.engineId,
      fact,
      actions,
    });
    for (const action of actions) this.carryOut(action);
    this.setWakeUp();
  }

  /** In the turn after this one: a heartbeat that a read of this turn replaces is then not due any more. */
  private setWakeUp(): void {
    if (this.isWakeUpDue) return;
    this.isWakeUpDue = true;
    this.context.clock.wall.soon(() => {
      this.isWakeUpDue = false;
      this.wakeUp.set(this.coordinator.nextWakeUpUs());
    });
  }

  private carryOut(action: TargetAction): void {
    const from = this.context.engineId;
    switch (action.kind) {
      case 'send-read':
        return this.sendRead(action);
      case 'send-read-end': {
        const { kind: _kind, to, ...end } = action;
        const { transport, stats } = this.context;
        if (!transport.isConnected) stats.add('nixl_num_failed_notifications');
        return this.mailbox.send(to, { kind: 'read-end', from, ...end });
      }
      case 'send-heartbeats':
        return this.mailbox.send(action.to, {
          kind: 'heartbeat',
          from,
          requestIds: action.requestIds,
        });
      case 'send-release': {
        const { requestId, generation } = action;
        return this.mailbox.send(action.to, { kind: 'release', from, requestId, generation });
      }
      case 'start-transfer':
        return this.startTransfer(action);
      case 'set-share':
        return this.transfers.setShare(action.sourceId, action.activeReads);
      case 'cancel-transfer':
        return this.transfers.cancel(action.requestId, action.epoch);
      case 'kv-ready':
        return this.onKvReady(action);
      case 'kv-failed':
        return this.onKvFailed(action);
      default:
        return unreachable(action);
    }
  }

  private sendRead(action: Action<'send-read'>): void {
    const { requestId, epoch, generation, attempt, readerRequestId } = action;
    const run = this.context.runs.get(readerRequestId);
    const { claim, claimedTokens } = run?.fetching ?? {};
    this.mailbox.send(action.to, {
      kind: 'read',
      from: this.context.engineId,
      ...{ requestId, epoch, generation, attempt, readerRequestId },
      ...(claim === undefined ? {} : { claim }),
      ...(claimedTokens === undefined ? {} : { claimedTokens }),
      ...(this.helpers.jobFaults.expiresLease(run) ? { expires: true as const } : {}),
    });
  }

  private startTransfer(action: Action<'start-transfer'>): void {
    const run = this.currentRun(action);
    if (run?.fetching?.reservedUs === undefined) return;
    const startUs = this.context.loop.logicalUs(run.fetching.reservedUs);
    run.fetching.transferStartedUs = startUs;
    const hurt = this.helpers.jobFaults.onTransfer(run);
    if (hurt !== undefined) this.transfers.start(run, { ...action, ...hurt }, startUs);
  }

  private onKvReady(action: Action<'kv-ready'>): void {
    const run = this.currentRun(action);
    if (run?.fetching?.reservedUs === undefined) return;
    const { stats, loop, engine } = this.context;
    let readyUs = run.fetching.reservedUs;
    if (run.fetching.isDeclined) {
      stats.add('kv_fetch_declined');
      this.helpers.failed.recompute(run);
      return;
    }
    if (action.transferredBytes > 0) {
      readyUs = run.fetching.transferStartedUs + this.transfers.lastSpanUs;
      this.transfers.count(action.transferredBytes);
    }
    stats.add('kv_fetched');
    const atUs = action.transferredBytes > 0 ? run.fetching.transferStartedUs : readyUs;
    const tokens = action.transferredTokens;
    this.context.timelines.note(run, 'transfer', { atUs, endUs: readyUs, tokens });
    const { clock, spans } = this.context;
    const instants = { startUs: clock.toWallUs(atUs), endUs: clock.toWallUs(readyUs) };
    spans.transferred(run, { ...instants, tokens });
    run.transferredTokens = tokens;
    stats.add('external_prefix_cache_hits', action.transferredTokens);
    const join = (): void => {
      if (run.handle >= 0) engine.kvArrived(run.handle);
    };
    this.helpers.jobFaults.onDecode(run, readyUs, (atUs) => loop.enter(atUs, join));
  }

  private onKvFailed(action: Action<'kv-failed'>): void {
    const run = this.currentRun(action);
    if (run === undefined) return;
    this.unreserved.delete(run);
    this.context.stats.add(`kv_fetch_${action.why}`);
    if (isRefusal(action.why)) {
      this.helpers.failed.onRefused(run);
      return;
    }
    this.context.stats.add('nixl_num_failed_transfers');
    this.helpers.failed.onFailed(run, action.why);
  }

  private currentRun(of: { requestId: string; epoch: number }): Run | undefined {
    const run = this.context.runs.get(of.requestId);
    return run?.epoch === of.epoch ? run : undefined;
  }
}

/** The run is void for the coordinator, though nobody here has ended it. */
function isRefusal(why: FetchFailure): boolean {
  return why === 'aborted' || why === 'rejected' || why === 'superseded';
}
