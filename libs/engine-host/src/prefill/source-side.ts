import { LiveClock } from '@baton/clock';
import type { EngineMessage } from '@baton/contract';
import { leaseTimes, type SourceAction, SourceCoordinator, type SourceFact } from '@baton/handoff';
import { type Micros, unreachable } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { type BeforeApplicationShutdown, Injectable, Optional } from '@nestjs/common';
import type { DropReason } from '../run/endings/ending-table';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot, WakeUp } from '../run/engine/engine-slot';
import { FaultPlan } from '../run/engine/fault-plan';
import { Mailbox } from '../run/engine/mailbox';
import { type Run } from '../run/runs/run';
import { HostOptions } from '../run/tokens';
import { type Held, HeldKv } from './held-kv';

type Action<K extends SourceAction['kind']> = Extract<SourceAction, { kind: K }>;
type Message<K extends EngineMessage['kind']> = Extract<EngineMessage, { kind: K }>;

/** Speed of a link without a limit (bytes per second), because JSON has no infinity. */
export const UNLIMITED = 1e18;

/**
 * Distance between the generations of two engines in a row: more than an engine has holdings, so
 * that a rebuilt engine repeats no generation.
 */
const GENERATIONS_PER_ENGINE = 2 ** 24;

/** What follows for a run whose blocks are held. */
export interface Holder {
  /** The blocks are under a lease and have their number: a reader may come. */
  offer(held: Held): void;
  /** The blocks are free. */
  release(held: Held): void;
}

/**
 * The source end of hand-overs: holds the blocks of finished prompts, offers them, answers readers,
 * and frees the blocks on the coordinator's decision. On decode it keeps the blocks of finished
 * answers for the next turn in the same way.
 */
@Injectable()
export class SourceSide implements BeforeApplicationShutdown {
  private coordinator: SourceCoordinator;
  private incarnation = 0;
  private readonly wakeUp: WakeUp;
  private holder: Holder = { offer: () => undefined, release: () => undefined };

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly heldKv: HeldKv,
    private readonly mailbox: Mailbox,
    private readonly clock: LiveClock,
    private readonly slot: EngineSlot,
    private readonly stats: EngineStats,
    @Optional() private readonly faults?: FaultPlan,
  ) {
    this.coordinator = this.newCoordinator();
    const tick = (): void => this.observe({ kind: 'tick', nowUs: this.clock.nowUs() });
    this.wakeUp = new WakeUp(clock, slot, tick);
  }

  listen(holder: Holder): void {
    this.holder = holder;
  }

  /** Holdings without a reader, and with one. */
  handoffs(): { readonly held: number; readonly being_read: number } {
    const read = this.coordinator.snapshot().filter(({ reads }) => reads.length > 0).length;
    return { held: this.heldKv.size - read, being_read: read };
  }

  /**
   * A decode leg has ended with `tokens` tokens in KV. Returns their parameters for its answer, as
   * JSON; undefined when nothing is kept.
   */
  keep(run: Run, tokens: number, endUs: Micros): string | undefined {
    const { heldKv } = this;
    this.hold(run, { tokens, isKept: true, heldUs: endUs });
    const held = heldKv.get({ requestId: run.job.requestId, epoch: run.epoch });
    return held && JSON.stringify(heldKv.paramsOf(held));
  }

  dropRequest(requestId: string, epoch: number, why: DropReason): void {
    const nowUs = this.clock.nowUs();
    if (why === 'aborted') this.observe({ kind: 'aborted', requestId, nowUs });
    else this.observe({ kind: 'superseded', requestId, epoch, nowUs });
  }

  onRead(read: Message<'read'>): void {
    const { requestId, readerRequestId, attempt } = read;
    const { heldKv, faults } = this;
    if (read.expires === true) this.expire(read);
    if (read.expires === true || faults?.failsRead() === true) {
      this.refuse(read);
      return;
    }
    this.observe({
      kind: 'read-requested',
      epoch: read.claim === undefined ? read.epoch : heldKv.epochClaimed(read, read.claim),
      generation: read.generation,
      reader: read.from,
      nowUs: this.clock.nowUs(),
      requestId,
      readerRequestId,
      attempt,
    });
  }

  onReadEnd(end: Message<'read-end'>): void {
    const { requestId, generation, readerRequestId, outcome } = end;
    this.heldKv.noteReadEnd(end);
    this.observe({
      kind: 'read-ended',
      reader: end.from,
      nowUs: this.clock.nowUs(),
      requestId,
      generation,
      readerRequestId,
      outcome,
    });
  }

  onHeartbeat({ from, requestIds }: Message<'heartbeat'>): void {
    this.stats.add('kv_lease_renewals', requestIds.length);
    this.observe({ kind: 'heartbeat', reader: from, requestIds, nowUs: this.clock.nowUs() });
  }

  onRelease({ from, requestId, generation }: Message<'release'>): void {
    const nowUs = this.clock.nowUs();
    this.observe({ kind: 'release-requested', requestId, generation, reader: from, nowUs });
  }

  /** The engine has been replaced: all held blocks are gone, and readers are answered so. */
  reset(): void {
    this.heldKv.reset();
    this.incarnation += 1;
    this.coordinator = this.newCoordinator();
  }

  /** The host ends: leases are no longer watched. */
  beforeApplicationShutdown(): void {
    this.wakeUp.cancel();
  }

  /** The engine holds the blocks of this run since `heldUs`. */
  hold(
    run: Run,
    what: { readonly tokens: number; readonly isKept: boolean; readonly heldUs: Micros },
  ): void {
    const { tokens, isKept, heldUs } = what;
    const { epoch, job } = run;
    const { requestId } = job;
    this.heldKv.hold(run, what);
    this.observe({
      kind: 'prompt-held',
      isRouted: !isKept && job.flow === 'route',
      nowUs: heldUs,
      requestId,
      epoch,
      tokens,
      isKept,
    });
  }

  private newCoordinator(): SourceCoordinator {
    const { options, clock } = this;
    const { kvLeaseUs, kvKeepUs, maxLeaseWallUs } = options;
    // The lateness of a Baton reader on the wall clock does not count in the simulated cluster.
    const factor = Math.max(1, clock.speedup);
    const routedUs = Math.round(Math.min(kvLeaseUs, maxLeaseWallUs) * factor);
    return new SourceCoordinator({
      lease: leaseTimes(kvLeaseUs, kvKeepUs, routedUs),
      firstGeneration: this.incarnation * GENERATIONS_PER_ENGINE + 1,
    });
  }

  private observe(fact: SourceFact): void {
    const { identity, options } = this;
    const actions = this.coordinator.handle(fact);
    options.onHandoff?.({ side: 'source', engineId: identity.engineId, fact, actions });
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
        return this.sendShare(action);
      case 'release-blocks':
        return this.free(action);
      default:
        return unreachable(action);
    }
  }

  private offer({ requestId, epoch, generation, leaseEndsUs }: Action<'hand-over'>): void {
    const { heldKv, stats } = this;
    const held = heldKv.get({ requestId, epoch });
    if (held === undefined) return;
    stats.add('kv_holdings');
    held.generation = generation;
    held.leaseEndsUs = leaseEndsUs;
    if (!held.isKept) this.holder.offer(held);
  }

  /** A link without a limit has no shares. */
  private sendShare({ readers, activeReads }: Action<'share-changed'>): void {
    const { mailbox, identity, options } = this;
    if (options.facts.link.bytesPerSecond >= UNLIMITED) return;
    const from = identity.engineId;
    for (const reader of readers) mailbox.send(reader, { kind: 'read-share', from, activeReads });
  }

  private answer(action: Action<'answer-read'>): void {
    const { to, readerRequestId, attempt, outcome, heldTokens, activeReads } = action;
    const { mailbox, identity, options, stats, faults, clock } = this;
    const { link, kvBytesPerToken } = options.facts;
    if (outcome === 'expired') stats.add('kv_reads_refused');
    mailbox.send(to, {
      kind: 'read-answer',
      from: identity.engineId,
      bytesPerSecond: link.bytesPerSecond,
      ports: link.ports,
      bytesPerToken: kvBytesPerToken,
      readerRequestId,
      attempt,
      outcome,
      heldTokens,
      activeReads,
    });
    // This runs after the messages of the current turn.
    if (faults?.awaits('read-answered') !== true) return;
    clock.wall.soon(() => faults.reached('read-answered'));
  }

  /** Frees the holding that a read names, as if its lease had ended. */
  private expire(read: Message<'read'>): void {
    const { heldKv } = this;
    for (const held of heldKv.named(read)) {
      heldKv.count('expired');
      this.dropRequest(read.requestId, held.run.epoch, 'superseded');
    }
  }

  private refuse({ from, readerRequestId, attempt }: Message<'read'>): void {
    const { mailbox, identity } = this;
    mailbox.send(from, {
      kind: 'read-answer',
      from: identity.engineId,
      readerRequestId,
      attempt,
      outcome: 'expired',
      heldTokens: 0,
      bytesPerSecond: 0,
      ports: 1,
      bytesPerToken: 0,
      activeReads: 0,
      isInjected: true,
    });
  }

  private free({ requestId, epoch, reason }: Action<'release-blocks'>): void {
    const held = this.heldKv.free({ requestId, epoch }, reason);
    if (held !== undefined) this.holder.release(held);
  }
}
