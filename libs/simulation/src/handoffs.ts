import type { RequestLog } from '@baton/analysis';
import {
  type HandoffEntry,
  leaseTimes,
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
import { NONE, type Trips } from './trips';
import type { VirtualEngine } from './virtual-engine';

/** Virtual engines lose no message, so a read request is answered at its own instant. */
const ANSWER_WITHIN_US = 1_000_000;

/** The calendar slots of the hand-overs. */
export interface HandoffSlots {
  /** Slot of engine 0; the others follow. */
  readonly source: number;
  readonly target: number;
  readonly transfers: number;
}

export interface VirtualHandoffParts {
  readonly engines: readonly VirtualEngine[];
  readonly log: RequestLog;
  readonly trips: Trips;
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
  /** The row whose KV was last found lost. */
  private lostRow = NONE;

  constructor(private readonly parts: VirtualHandoffParts) {}

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

  /** The engine that has computed the prompt of the row holds its blocks. */
  hold(row: number, nowUs: Micros): void {
    const { log, trips } = this.parts;
    const { held } = this.facts;
    held.requestId = row;
    held.epoch = trips.epoch[row]!;
    held.tokens = log.promptTokens[row]!;
    held.nowUs = nowUs;
    this.informSource(log.prefillEngine[row]!, held);
  }

  /** The row is in its decode engine, which is to fetch its KV. */
  accept(row: number, nowUs: Micros): void {
    const { log, trips } = this.parts;
    const { accepted } = this.facts;
    const reader = log.decodeEngine[row]!;
    const holder = log.prefillEngine[row]!;
    accepted.requestId = accepted.source.requestId = row;
    accepted.epoch = accepted.source.epoch = trips.epoch[row]!;
    accepted.source.engineId = holder;
    accepted.source.generation = trips.generation[row]!;
    accepted.nowUs = nowUs;
    this.setups[reader]?.meet(holder, nowUs);
    this.informTarget(reader, accepted);
  }

  /** Its decode engine can never serve the row. */
  reject(row: number, nowUs: Micros): void {
    const { log, trips } = this.parts;
    const epoch = trips.epoch[row]!;
    const engineId = log.prefillEngine[row]!;
    const source = { engineId, requestId: row, epoch, generation: trips.generation[row]! };
    const fact = { kind: 'rejected', requestId: row, epoch, source, nowUs } as const;
    this.informTarget(log.decodeEngine[row]!, fact);
  }

  /**
   * Its decode engine has room for the row and reads its KV. Returns false when the KV is lost,
   * because its lease has ended.
   */
  reserve(row: number, reservation: Reservation, nowUs: Micros): boolean {
    const { log, trips } = this.parts;
    const { reserved } = this.facts;
    reserved.requestId = row;
    reserved.epoch = trips.epoch[row]!;
    reserved.missingTokens = reservation.missingTokens;
    reserved.missingBlocks = reservation.missingBlocks;
    reserved.nowUs = nowUs;
    this.lostRow = NONE;
    this.informTarget(log.decodeEngine[row]!, reserved);
    return this.lostRow !== row;
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
      done.epoch = this.parts.trips.epoch[id]!;
      done.nowUs = nowUs;
      this.informTarget(this.parts.log.decodeEngine[id]!, done);
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
    this.setAlarm(this.parts.slots.target + engine, target.nextWakeUpUs());
  }

  private carryOutSource(engine: number, action: SourceAction<number>, nowUs: Micros): void {
    switch (action.kind) {
      case 'hand-over':
        this.parts.trips.generation[action.requestId] = action.generation;
        return;
      case 'answer-read':
        return this.answer(engine, action, nowUs);
      case 'share-changed':
        // The single set of transfers has the counts of both ends.
        return;
      case 'release-blocks':
        return this.release(engine, action, nowUs);
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
        return this.complete(engine, action, nowUs);
      case 'kv-failed':
        this.lostRow = action.requestId;
        return;
      default:
        return unreachable(action);
    }
  }

  private release(at: number, action: SourceDoes<'release-blocks'>, nowUs: Micros): void {
    const engine = this.parts.engines[at]!;
    if (action.reason === 'expired') engine.leaseExpiries++;
    engine.interrupt(nowUs);
    engine.engine.releaseHeld(this.parts.trips.promptHandle[action.requestId]!);
    engine.wake(nowUs);
  }

  private complete(at: number, action: TargetDoes<'kv-ready'>, nowUs: Micros): void {
    const { engines, log, trips } = this.parts;
    const { requestId: row, transferredTokens } = action;
    const engine = engines[at]!;
    engine.kvTransferBytes += action.transferredBytes;
    log.transferEndUs[row] = nowUs;
    log.transferredTokens[row] = transferredTokens;
    if (transferredTokens === 0) log.transferStartUs[row] = nowUs;
    engine.kvArrived(trips.outputHandle[row]!, nowUs);
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
    this.parts.log.transferStartUs[action.requestId] = nowUs;
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
