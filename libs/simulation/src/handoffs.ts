import {
  type FetchFailure,
  type HandoffEntry,
  leaseTimes,
  type ReleaseReason,
  type SourceAction,
  SourceCoordinator,
  type TargetAction,
  TargetCoordinator,
  TransferSet,
  TransferSetup,
  wholeBlocks,
} from '@baton/handoff';
import type { Reservation } from '@baton/engine';
import { type Micros, unreachable } from '@baton/kernel';
import { type Calendar, TIE } from './calendar';
import { type Facts, HandoffFacts } from './handoff-facts';
import type { VirtualEngine } from './virtual-engine';

/** Virtual engines lose no message, so a read request is answered at its own instant. */
const ANSWER_WITHIN_US = 1_000_000;

export interface HandoffEvents {
  /** Called when the prompt is held and can be fetched. */
  readonly onOffered: (row: number, nowUs: Micros) => void;
  readonly onTransferStarted: (row: number, nowUs: Micros) => void;
  readonly onKvReady: (row: number, tokens: number, nowUs: Micros) => void;
  readonly onKvFailed: (row: number, why: FetchFailure, nowUs: Micros) => void;
  /** The source may free the blocks of this row. */
  readonly onReleased: (
    engine: VirtualEngine,
    row: number,
    end: { reason: ReleaseReason; nowUs: Micros },
  ) => void;
}

/** The calendar slots of the hand-overs. */
export interface HandoffSlots {
  /** Slot of engine 0; the others follow. */
  readonly source: number;
  readonly target: number;
  readonly transfers: number;
}

export interface VirtualHandoffParts extends HandoffEvents {
  readonly engines: readonly VirtualEngine[];
  readonly calendar: Calendar;
  readonly slots: HandoffSlots;
  readonly kvLeaseUs: Micros;
  readonly onHandoff?: ((entry: HandoffEntry<number>) => void) | undefined;
}

type SourceDoes<K extends SourceAction['kind']> = Extract<SourceAction<number>, { kind: K }>;
type TargetDoes<K extends TargetAction['kind']> = Extract<TargetAction<number>, { kind: K }>;

/**
 * Drives the two coordinators of every engine and the transfers between them on the virtual clock.
 * Messages take no time: the other side gets a message at the same instant, before its next action.
 */
export class Handoffs {
  private readonly sources: SourceCoordinator<number>[] = [];
  private readonly targets: TargetCoordinator<number>[] = [];
  private readonly transfers = new TransferSet<number>();
  /** By target; undefined when setting up takes no time. */
  private readonly setups: (TransferSetup<number> | undefined)[] = [];
  /** Transfers whose end has not been reported. */
  private underWay = 0;
  private readonly facts = new HandoffFacts();
  private readonly epochs: Uint16Array;
  private readonly generations: Int32Array;
  /** By row: the engine that holds, or held, its prompt, and the one that fetches it. */
  private readonly holder: Int16Array;
  private readonly reader: Int16Array;

  constructor(
    count: number,
    private readonly parts: VirtualHandoffParts,
  ) {
    this.epochs = new Uint16Array(count).fill(1);
    this.generations = new Int32Array(count);
    this.holder = new Int16Array(count).fill(-1);
    this.reader = new Int16Array(count).fill(-1);
  }

  /** An engine has joined. */
  add({ index, pool }: VirtualEngine): void {
    const lease = leaseTimes(this.parts.kvLeaseUs);
    const { kvBytesPerToken: bytesPerToken, options, transferTimes } = pool;
    const { ports, isTimedByTokens = false } = pool.link;
    const shape = pool.transferShape ?? wholeBlocks(bytesPerToken, options.blockSize);
    const { bytesPerBlock } = shape;
    this.sources[index] = new SourceCoordinator({ lease, sendsShares: false });
    this.targets[index] = new TargetCoordinator({
      lease,
      answerWithinUs: ANSWER_WITHIN_US,
      ports,
      bytesPerToken,
      bytesPerBlock,
      isTimedByTokens,
    });
    this.setups[index] = transferTimes && new TransferSetup(transferTimes, shape);
  }

  /** Runs of the first stage of the row so far. */
  runsOf(row: number): number {
    return this.epochs[row]!;
  }

  /** Called when the KV of a row is lost: its next held prompt belongs to another run. */
  startOver(row: number): void {
    this.epochs[row]!++;
  }

  held(row: number, engine: VirtualEngine, at: { tokens: number; nowUs: Micros }): void {
    const { held } = this.facts;
    this.holder[row] = engine.index;
    held.requestId = row;
    held.epoch = this.epochs[row]!;
    held.tokens = at.tokens;
    held.nowUs = at.nowUs;
    this.informSource(engine.index, held);
  }

  accepted(row: number, engine: VirtualEngine, nowUs: Micros): void {
    const { accepted } = this.facts;
    this.reader[row] = engine.index;
    accepted.requestId = accepted.source.requestId = row;
    accepted.epoch = accepted.source.epoch = this.epochs[row]!;
    accepted.source.engineId = this.holder[row]!;
    accepted.source.generation = this.generations[row]!;
    accepted.nowUs = nowUs;
    this.setups[engine.index]?.meet(this.holder[row]!, nowUs);
    this.informTarget(engine.index, accepted);
  }

  rejected(row: number, engine: VirtualEngine, nowUs: Micros): void {
    const epoch = this.epochs[row]!;
    const source = {
      engineId: this.holder[row]!,
      requestId: row,
      epoch,
      generation: this.generations[row]!,
    };
    this.informTarget(engine.index, { kind: 'rejected', requestId: row, epoch, source, nowUs });
  }

  reserved(row: number, reservation: Reservation, nowUs: Micros): void {
    const { reserved } = this.facts;
    reserved.requestId = row;
    reserved.epoch = this.epochs[row]!;
    reserved.missingTokens = reservation.missingTokens;
    reserved.missingBlocks = reservation.missingBlocks;
    reserved.nowUs = nowUs;
    this.informTarget(this.reader[row]!, reserved);
  }

  sourceTick(engine: number, nowUs: Micros): void {
    this.parts.calendar.clear(this.parts.slots.source + engine);
    this.informSource(engine, { kind: 'tick', nowUs });
  }

  targetTick(engine: number, nowUs: Micros): void {
    this.parts.calendar.clear(this.parts.slots.target + engine);
    this.informTarget(engine, { kind: 'tick', nowUs });
  }

  transfersDue(nowUs: Micros): void {
    const { done } = this.facts;
    for (const { id } of this.transfers.completed(nowUs)) {
      this.underWay--;
      done.requestId = id;
      done.epoch = this.epochs[id]!;
      done.nowUs = nowUs;
      this.informTarget(this.reader[id]!, done);
    }
    this.setTransferAlarm(nowUs);
  }

  private informSource(engine: number, fact: Facts['source']): void {
    const { nowUs } = fact;
    const source = this.sources[engine]!;
    const actions = source.handle(fact);
    this.parts.onHandoff?.({ side: 'source', engineId: engine, fact: { ...fact }, actions });
    for (const action of actions) this.carryOutSource(engine, action, nowUs);
    this.setAlarm(this.parts.slots.source + engine, source.nextWakeUpUs());
  }

  private informTarget(engine: number, fact: Facts['target']): void {
    const { nowUs } = fact;
    const target = this.targets[engine]!;
    const actions = target.handle(fact);
    this.parts.onHandoff?.({ side: 'target', engineId: engine, fact: { ...fact }, actions });
    for (const action of actions) this.carryOutTarget(engine, action, nowUs);
    // A fetch is announced at the end of the instant that accepted it, unless its read announces it
    // first.
    if (fact.kind !== 'accepted') this.settle(engine);
  }

  /** Call it after accepting fetches, once all possible blocks are reserved. */
  settle(engine: number): void {
    this.setAlarm(this.parts.slots.target + engine, this.targets[engine]!.nextWakeUpUs());
  }

  private carryOutSource(engine: number, action: SourceAction<number>, nowUs: Micros): void {
    switch (action.kind) {
      case 'hand-over':
        this.generations[action.requestId] = action.generation;
        return this.parts.onOffered(action.requestId, nowUs);
      case 'answer-read':
        return this.answer(engine, action, nowUs);
      case 'share-changed':
        // The single set of transfers has the counts of both ends.
        return;
      case 'release-blocks': {
        const { reason, requestId } = action;
        return this.parts.onReleased(this.parts.engines[engine]!, requestId, { reason, nowUs });
      }
      default:
        return unreachable(action);
    }
  }

  private carryOutTarget(engine: number, action: TargetAction<number>, nowUs: Micros): void {
    switch (action.kind) {
      case 'send-read':
        return this.read(engine, action, nowUs);
      case 'send-read-end':
        return this.endRead(engine, action, nowUs);
      case 'send-heartbeats': {
        const { requestIds, to } = action;
        return this.informSource(to, { kind: 'heartbeat', requestIds, reader: engine, nowUs });
      }
      case 'send-release': {
        const { requestId, generation, to } = action;
        const release = { kind: 'release-requested', requestId, generation } as const;
        return this.informSource(to, { ...release, reader: engine, nowUs });
      }
      case 'start-transfer':
        return this.startTransfer(engine, action, nowUs);
      case 'set-share':
        return;
      case 'cancel-transfer':
        if (this.transfers.cancel(action.requestId, nowUs)) this.underWay--;
        return this.setTransferAlarm(nowUs);
      case 'kv-ready':
        this.parts.engines[engine]!.kvTransferBytes += action.transferredBytes;
        return this.parts.onKvReady(action.requestId, action.transferredTokens, nowUs);
      case 'kv-failed':
        return this.parts.onKvFailed(action.requestId, action.why, nowUs);
      default:
        return unreachable(action);
    }
  }

  private answer(from: number, action: SourceDoes<'answer-read'>, nowUs: Micros): void {
    const { answered } = this.facts;
    const { pool } = this.parts.engines[from]!;
    answered.from = from;
    answered.requestId = action.readerRequestId;
    answered.attempt = action.attempt;
    answered.outcome = action.outcome;
    answered.heldTokens = action.heldTokens;
    answered.activeReads = action.activeReads;
    answered.bytesPerSecond = pool.link.bytesPerSecond;
    answered.ports = pool.link.ports;
    answered.bytesPerToken = pool.kvBytesPerToken;
    answered.nowUs = nowUs;
    this.informTarget(action.to, answered);
  }

  private read(reader: number, action: TargetDoes<'send-read'>, nowUs: Micros): void {
    const { requested } = this.facts;
    requested.requestId = action.requestId;
    requested.epoch = action.epoch;
    requested.generation = action.generation;
    requested.reader = reader;
    requested.readerRequestId = action.readerRequestId;
    requested.attempt = action.attempt;
    requested.nowUs = nowUs;
    this.informSource(action.to, requested);
  }

  private endRead(reader: number, action: TargetDoes<'send-read-end'>, nowUs: Micros): void {
    const { ended } = this.facts;
    ended.requestId = action.requestId;
    ended.generation = action.generation;
    ended.reader = reader;
    ended.readerRequestId = action.readerRequestId;
    ended.outcome = action.outcome;
    ended.nowUs = nowUs;
    this.informSource(action.to, ended);
  }

  private startTransfer(reader: number, action: TargetDoes<'start-transfer'>, nowUs: Micros): void {
    const { start } = this.facts;
    const { link } = this.parts.engines[reader]!.pool;
    start.id = action.requestId;
    start.sourceId = action.sourceId;
    start.targetId = reader;
    start.bytes = action.bytes;
    const setup = this.setups[reader];
    const setupUs = setup?.leftUs(action.sourceId, action.blocks, nowUs) ?? 0;
    start.baseLatencyUs = link.baseLatencyUs + setupUs;
    start.sourceBytesPerSecond = action.bytesPerSecond;
    start.targetBytesPerSecond = link.bytesPerSecond;
    start.sourcePorts = action.sourcePorts;
    start.nowUs = nowUs;
    this.transfers.start(start);
    this.underWay++;
    this.parts.onTransferStarted(action.requestId, nowUs);
    this.setTransferAlarm(nowUs);
  }

  /**
   * When a transfer begins, others can be found complete; their ends are reported at this instant.
   */
  private setTransferAlarm(nowUs: Micros): void {
    const { calendar, slots } = this.parts;
    const isUntold = this.underWay > this.transfers.size;
    const dueUs = isUntold ? nowUs : this.transfers.nextCompletionUs();
    if (dueUs === undefined) calendar.clear(slots.transfers);
    else calendar.set(slots.transfers, dueUs, TIE.transfer);
  }

  /**
   * An alarm only moves to an earlier instant. An early alarm finds nothing due and is set again,
   * which costs less than moving it at every fact.
   */
  private setAlarm(slot: number, dueUs: Micros | undefined): void {
    const { calendar } = this.parts;
    if (dueUs !== undefined && dueUs < calendar.dueUs(slot)) calendar.set(slot, dueUs, TIE.lease);
  }
}
