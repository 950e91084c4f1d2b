import { emptyFrameEntry, type EngineMessage, remoteRequestId } from '@baton/contract';
import type { SequenceHandle } from '@baton/engine';
import {
  leaseTimes,
  type ReleaseReason,
  type SourceAction,
  SourceCoordinator,
  type SourceFact,
} from '@baton/handoff';
import { type Micros, unreachable } from '@baton/kernel';
import type { HostContext } from '../host/host-context';
import type { Mailbox } from '../host/mailbox';
import type { Endings, LettingGo } from '../jobs/endings';
import { claimOn, claimOnKept, kvTransferParams } from '../jobs/kv-reference';
import { isOver, type Run } from '../jobs/run';
import { WakeUp } from '../steps/wake-up';
import { HandOver } from './hand-over';

type Action<K extends SourceAction['kind']> = Extract<SourceAction, { kind: K }>;
type Message<K extends EngineMessage['kind']> = Extract<EngineMessage, { kind: K }>;

/** Blocks that wait for a reader, whether or not their run has moved on. */
interface Held {
  /** Whose KV they hold. */
  readonly tokens: number;
  /** A decode leg has ended with them: they wait for the next turn of its conversation. */
  readonly isKept: boolean;
  readonly run: Run;
  readonly handle: SequenceHandle;
  readonly heldUs: Micros;
  /** Named to outside routers only: decode engines of ours go by the generation. */
  readonly blockIds: readonly number[] | undefined;
  /** 0 until the coordinator has named the holding. */
  generation: number;
  leaseEndsUs: Micros;
}

/** From the answer of a prefill leg to the arrival of the decode leg, at most (wall). */
const ROUTER_TAKES_US = 2_000_000;

/** Far above any engine's lifetime count of holdings, so that a rebuilt engine never repeats the generations of the one before. */
const GENERATIONS_PER_ENGINE = 2 ** 24;

/**
 * The source end of hand-overs: holds the blocks of finished prompts, offers them to the ledger and the decode queue (or to an outside
 * router), answers readers, and frees the blocks when the coordinator says so. On decode it keeps what ended for a next turn in the same way.
 */
export class PrefillSide {
  private coordinator: SourceCoordinator;
  private incarnation = 0;
  private held = new Map<string, Held>();
  private readonly wakeUp: WakeUp;
  private readonly entry = emptyFrameEntry();
  private readonly hands: HandOver;

  constructor(
    private readonly context: HostContext,
    private readonly endings: Endings,
    private readonly mailbox: Mailbox,
  ) {
    this.hands = new HandOver(context, endings);
    this.coordinator = this.newCoordinator();
    const tick = (): void => this.tell({ kind: 'tick', nowUs: this.nowUs() });
    this.wakeUp = new WakeUp(context.clock, () => context.guard(tick));
  }

  /** Holdings that somebody may still come for: a router that has not sent its decode leg by now will not. */
  awaitedHoldings(): number {
    const oldUs = this.nowUs() - ROUTER_TAKES_US * this.context.clock.speedup;
    return [...this.held.values()].filter(
      ({ run, heldUs }) => run.job.flow === 'route' || heldUs > oldUs,
    ).length;
  }

  /** Requests whose KV waits for decode under Baton's own routing; those of outside routers live by their lease alone. */
  routedHoldings(): { requestId: string; epoch: number }[] {
    return [...this.held.values()]
      .filter(({ run }) => run.job.flow === 'route' && isOver(run))
      .map(({ run }) => ({ requestId: run.job.requestId, epoch: run.epoch }));
  }

  /** Holdings without a reader, and with one. */
  handoffs(): { readonly held: number; readonly being_read: number } {
    const read = this.coordinator.view().filter(({ reads }) => reads.length > 0).length;
    return { held: this.held.size - read, being_read: read };
  }

  /** The prompt of this run is computed, and the engine holds its blocks. */
  onHeld(run: Run, heldUs: Micros): void {
    this.hold(run, { tokens: run.job.promptTokens, isKept: false, heldUs });
  }

  /** A decode leg has ended with `tokens` tokens in KV; returns what its answer says of them, undefined when nothing is kept. */
  keep(run: Run, tokens: number, endUs: Micros): string | undefined {
    this.hold(run, { tokens, isKept: true, heldUs: endUs });
    const held = this.held.get(keyOf(run.job.requestId, run.epoch));
    return held && JSON.stringify(this.paramsOf(held, held.generation));
  }

  private hold(run: Run, what: Pick<Held, 'tokens' | 'isKept' | 'heldUs'>): void {
    const { engine, runs } = this.context;
    const { handle, epoch, job } = run;
    const { tokens, isKept, heldUs } = what;
    const blockIds = isKept || job.flow === 'hold' ? engine.blockIds(handle) : undefined;
    runs.unbind(run);
    const unnamed = { generation: 0, leaseEndsUs: heldUs };
    this.held.set(keyOf(job.requestId, epoch), { ...what, ...unnamed, run, handle, blockIds });
    const { requestId } = job;
    const isRouted = !isKept && job.flow === 'route';
    this.tell({ kind: 'prompt-held', requestId, epoch, tokens, isKept, isRouted, nowUs: heldUs });
  }

  letGo(requestId: string, epoch: number, why: LettingGo): void {
    const nowUs = this.nowUs();
    if (why === 'aborted') this.tell({ kind: 'aborted', requestId, nowUs });
    else this.tell({ kind: 'superseded', requestId, epoch, nowUs });
  }

  onRead(read: Message<'read'>): void {
    const { requestId, readerRequestId, attempt } = read;
    if (read.expires === true) this.expire(read);
    if (read.expires === true || this.context.faults.failsRead()) {
      this.refuse(read);
      return;
    }
    this.tell({
      kind: 'read-requested',
      ...{ requestId, readerRequestId, attempt },
      epoch: read.claim === undefined ? read.epoch : this.epochClaimed(read, read.claim),
      generation: read.generation,
      reader: read.from,
      nowUs: this.nowUs(),
    });
  }

  onReadEnd(end: Message<'read-end'>): void {
    const { requestId, generation, readerRequestId, outcome } = end;
    this.tell({
      kind: 'read-ended',
      ...{ requestId, generation, readerRequestId, outcome },
      reader: end.from,
      nowUs: this.nowUs(),
    });
  }

  onHeartbeat({ from, requestIds }: Message<'heartbeat'>): void {
    this.context.stats.add('kv_lease_renewals', requestIds.length);
    this.tell({ kind: 'heartbeat', reader: from, requestIds, nowUs: this.nowUs() });
  }

  onRelease({ from, requestId, generation }: Message<'release'>): void {
    const nowUs = this.nowUs();
    this.tell({ kind: 'release-requested', requestId, generation, reader: from, nowUs });
  }

  /** The engine has been replaced: whatever was held is gone, and readers will be told so. */
  reset(): void {
    this.held = new Map();
    this.incarnation += 1;
    this.coordinator = this.newCoordinator();
  }

  /** Blocks held for nobody any more, when the host ends. */
  stop(): void {
    this.wakeUp.cancel();
  }

  private newCoordinator(): SourceCoordinator {
    const { kvLeaseUs, kvKeepUs, maxLeaseWallUs } = this.context.options;
    const { speedup } = this.context.clock;
    // That a reader of ours is late on the wall clock says nothing about the simulated cluster.
    const routedUs = Math.round(Math.min(kvLeaseUs, maxLeaseWallUs) * Math.max(1, speedup));
    return new SourceCoordinator({
      lease: leaseTimes(kvLeaseUs, kvKeepUs, routedUs),
      firstGeneration: this.incarnation * GENERATIONS_PER_ENGINE + 1,
    });
  }

  private nowUs(): Micros {
    return this.context.clock.nowUs();
  }

  private tell(fact: SourceFact): void {
    const actions = this.coordinator.handle(fact);
    this.context.options.onHandoff?.({
      side: 'source',
      engineId: this.context.engineId,
      fact,
      actions,
    });
    for (const action of actions) this.carryOut(action);
    this.wakeUp.set(this.coordinator.nextWakeUpUs());
  }

  private carryOut(action: SourceAction): void {
    switch (action.kind) {
      case 'hand-over':
        return this.offer(action);
      case 'answer-read':
        return this.answer(action);
      case 'share-changed':
        for (const reader of action.readers) {
          const { activeReads } = action;
          this.mailbox.send(reader, {
            kind: 'read-share',
            from: this.context.engineId,
            activeReads,
          });
        }
        return;
      case 'release-blocks':
        return this.free(action);
      default:
        return unreachable(action);
    }
  }

  private offer({ requestId, epoch, generation, leaseEndsUs }: Action<'hand-over'>): void {
    const held = this.held.get(keyOf(requestId, epoch));
    if (held === undefined) return;
    this.context.stats.add('kv_holdings');
    held.generation = generation;
    held.leaseEndsUs = leaseEndsUs;
    if (held.isKept) return;
    held.run.state = 'moving-on';
    const moving = held.run.job.flow === 'hold' ? this.answerRouter : this.handOver;
    moving.call(this, held, generation).catch((error: unknown) => {
      this.context.log.warn({ err: error, requestId }, 'hand-over not completed');
      this.withdraw(held);
    });
  }

  private handOver(held: Held, generation: number): Promise<void> {
    const heldUs = this.context.clock.toWallUs(held.heldUs);
    const params = this.paramsOf(held, generation);
    return this.hands.pass(held.run, { params, generation, heldUs });
  }

  /** The prefill leg of an outside router ends here, with one token and the name of the blocks. */
  private async answerRouter(held: Held, generation: number): Promise<void> {
    const { run } = held;
    const payload = JSON.stringify(this.paramsOf(held, generation));
    const result = { reason: 'length', tokens: 1, payload } as const;
    const isOurs = await this.context.transport.ledger.finish(run.job.requestId, run.epoch, result);
    if (isOver(run)) return;
    if (!isOurs) {
      this.endings.drop(run);
      return;
    }
    run.emitted = 1;
    this.context.stats.add('generation_tokens');
    this.sayEnd(run, payload);
    this.endings.handOn(run);
  }

  private paramsOf(held: Held, generation: number): ReturnType<typeof kvTransferParams> {
    const { job } = held.run;
    const { clock, options } = this.context;
    const { facts, dataParallel } = options;
    const keptUntil = clock.toWallUs(held.leaseEndsUs) / 1e6;
    return kvTransferParams({
      engineId: this.context.engineId,
      remoteRequestId: remoteRequestId(job.requestId, generation),
      blockIds: held.blockIds,
      tensorParallelSize: facts.tensorParallelSize,
      rank: dataParallel?.rank ?? 0,
      tokens: held.tokens,
      ...(held.isKept ? { keptUntil } : {}),
    });
  }

  private sayEnd(run: Run, tail: string): void {
    const entry = { ...this.entry, streamId: run.job.streamId, epoch: run.epoch, tail };
    this.context.frames.add(run.outbox, {
      ...entry,
      kind: 'end',
      reason: 'length',
      first: 1,
      count: 1,
    });
    this.context.frames.flushSoon();
  }

  /** The broker could not be told: the prompt is computed again by whoever gets the job next. */
  private withdraw(held: Held): void {
    if (isOver(held.run)) return;
    this.context.guard(() => this.endings.giveBack(held.run));
  }

  private answer(action: Action<'answer-read'>): void {
    const { to, readerRequestId, attempt, outcome, heldTokens, activeReads } = action;
    if (outcome === 'expired') this.context.stats.add('kv_reads_refused');
    this.mailbox.send(to, {
      kind: 'read-answer',
      from: this.context.engineId,
      ...{ readerRequestId, attempt, outcome, heldTokens, activeReads },
      bytesPerSecond: this.context.options.facts.link.bytesPerSecond,
    });
    const { faults, clock } = this.context;
    // Behind the mail of this turn.
    if (faults.awaits('read-answered')) clock.wall.soon(() => faults.reached('read-answered'));
  }

  /** Frees what is held under the name of a read, as if its lease had ended. */
  private expire({ requestId, generation }: Message<'read'>): void {
    for (const held of [...this.held.values()]) {
      if (held.generation !== generation || held.run.job.requestId !== requestId) continue;
      this.count('expired');
      this.letGo(requestId, held.run.epoch, 'superseded');
    }
  }

  private refuse({ from, readerRequestId, attempt }: Message<'read'>): void {
    this.mailbox.send(from, {
      kind: 'read-answer',
      from: this.context.engineId,
      ...{ readerRequestId, attempt },
      outcome: 'expired',
      heldTokens: 0,
      bytesPerSecond: 0,
      activeReads: 0,
      isInjected: true,
    });
  }

  /** Parameters from outside name no epoch: whatever is held under the name counts if the rest of the claim fits. */
  private epochClaimed(read: Message<'read'>, claim: number): number {
    for (const held of this.held.values()) {
      const { job, epoch } = held.run;
      if (held.generation !== read.generation || job.requestId !== read.requestId) continue;
      return this.claimOn(held, read) === claim ? epoch : -1;
    }
    return -1;
  }

  /** What a reader of this must claim; undefined: it cannot be read so. */
  private claimOn(held: Held, { claimedTokens }: Message<'read'>): number | undefined {
    const { blockIds, tokens: heldTokens, isKept, run } = held;
    const { blockSize } = this.context.options.facts;
    if (blockIds === undefined || isKept !== (claimedTokens !== undefined)) return undefined;
    if (claimedTokens === undefined) return claimOn(run.job, [blockIds], blockSize);
    if (claimedTokens > heldTokens) return undefined;
    return claimOnKept(run.job, [blockIds], { tokens: claimedTokens, blockSize });
  }

  private free({ requestId, epoch, reason }: Action<'release-blocks'>): void {
    const key = keyOf(requestId, epoch);
    const held = this.held.get(key);
    if (held === undefined) return;
    this.held.delete(key);
    this.count(reason);
    this.context.timelines.note(held.run, 'released', { atUs: this.nowUs() });
    this.context.engine.releaseHeld(held.handle);
    // A prompt may have waited for these blocks in an engine that had nothing to do.
    this.context.loop.enter(this.nowUs(), () => undefined);
    if (held.run.state === 'running' && !held.isKept) this.endings.drop(held.run);
  }

  private count(reason: ReleaseReason): void {
    const { stats } = this.context;
    stats.add(reason === 'read-done' ? 'kv_released_read_done' : `kv_released_${reason}`);
    if (reason === 'expired') stats.add('nixl_num_kv_expired_reqs');
  }
}

function keyOf(requestId: string, epoch: number): string {
  return `${requestId}@${epoch}`;
}
