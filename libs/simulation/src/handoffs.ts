import type { RequestLog } from '@baton/analysis';
import type { Reservation } from '@baton/engine';
import {
  deliver,
  type HandoffEntry,
  type Handlers,
  leaseTimes,
  type SourceAction,
  SourceCoordinator,
  type SourceFact,
  type SourceName,
  type TargetAction,
  TargetCoordinator,
  type TargetFact,
  type TargetOptions,
  TransferSet,
  TransferSetup,
  type TransferShape,
  wholeBlocks,
} from '@baton/handoff';
import { type Micros, NOT_YET } from '@baton/kernel';
import { type Calendar, TIE } from './calendar';
import type { ClusterScenario, EnginePool } from './scenario';
import { NONE, type Trips } from './trips';
import type { VirtualEngine } from './virtual-engine';

/** A read request is answered at its own instant. */
const ANSWER_WITHIN_US = 1_000_000;

export interface VirtualHandoffParts {
  readonly engines: readonly VirtualEngine[];
  readonly log: RequestLog;
  readonly trips: Trips;
  readonly calendar: Calendar;
  readonly slots: { readonly leases: number; readonly transfers: number };
  readonly onHandoff?: ((entry: HandoffEntry<number>) => void) | undefined;
}

type SourceDoes<K extends SourceAction['kind']> = Extract<SourceAction<number>, { kind: K }>;
type TargetDoes<K extends TargetAction['kind']> = Extract<TargetAction<number>, { kind: K }>;

/**
 * Drives the coordinators of both sides and the transfers between them on the virtual clock.
 * Messages take no time: an action of one side is at once a fact of the other. Requests are named
 * by rows, engines by indices.
 */
export class Handoffs implements Handlers<SourceAction<number>>, Handlers<TargetAction<number>> {
  /** One coordinator for all engines that hold KV, and by pool one for those that fetch it. */
  private readonly holding: SourceCoordinator<number>;
  private readonly source: Handlers<SourceFact<number>>;
  private readonly targets: readonly (Handlers<TargetFact<number>> | undefined)[];
  private readonly transfers: TransferSet<number>;
  /** By target; undefined when setting up takes no time. */
  private readonly setups: (TransferSetup<number> | undefined)[] = [];
  /** Transfers whose end has not been reported. */
  private underWay = 0;
  /** The row whose KV was last found lost. */
  private lostRow = NONE;
  private nowUs: Micros = NOT_YET;

  constructor(
    { pools, kvLeaseUs, workload }: Pick<ClusterScenario, 'pools' | 'kvLeaseUs' | 'workload'>,
    private readonly parts: VirtualHandoffParts,
  ) {
    const { onHandoff } = parts;
    const sides = { lease: leaseTimes(kvLeaseUs), rows: workload.count };
    this.transfers = new TransferSet(workload.count);
    this.holding = new SourceCoordinator(sides, onHandoff === undefined ? this : undefined);
    this.source = onHandoff ? this.observed('source', this.holding, onHandoff) : this.holding;
    this.targets = pools.map((pool) => {
      if (pool.role !== 'decode') return undefined;
      const options = targetOf(pool, sides);
      if (onHandoff === undefined) return new TargetCoordinator(options, this);
      return this.observed('target', new TargetCoordinator<number>(options), onHandoff);
    });
  }

  /** An engine has joined. */
  add({ index, pool }: VirtualEngine): void {
    this.setups[index] = pool.transferTimes && new TransferSetup(pool.transferTimes, shapeOf(pool));
  }

  /** The engine that has computed the prompt of the row holds its blocks since `nowUs`. */
  hold(row: number, nowUs: Micros): void {
    const { log, trips } = this.parts;
    this.nowUs = nowUs;
    this.source['prompt-held']({
      kind: 'prompt-held',
      requestId: row,
      epoch: trips.epochOf(row),
      tokens: log.promptTokens[row]!,
      nowUs,
    });
  }

  /** The row is in its decode engine, which is to fetch its KV. */
  accept(row: number, nowUs: Micros): void {
    const { log, trips } = this.parts;
    const epoch = trips.epochOf(row);
    const source = this.sourceOf(row);
    this.nowUs = nowUs;
    this.setups[log.decodeEngine[row]!]?.meet(source.engineId, nowUs);
    this.target(row).accepted({ kind: 'accepted', requestId: row, epoch, source, nowUs });
  }

  /** Its decode engine can never serve the row. */
  reject(row: number, nowUs: Micros): void {
    const epoch = this.parts.trips.epochOf(row);
    const source = this.sourceOf(row);
    this.nowUs = nowUs;
    this.target(row).rejected({ kind: 'rejected', requestId: row, epoch, source, nowUs });
  }

  /**
   * Its decode engine has room for the row and reads its KV. Returns false when the KV is lost,
   * because its lease has ended.
   */
  reserve(row: number, { missingTokens, missingBlocks }: Reservation, nowUs: Micros): boolean {
    const epoch = this.parts.trips.epochOf(row);
    this.lostRow = NONE;
    this.nowUs = nowUs;
    this.target(row).reserved({
      kind: 'reserved',
      requestId: row,
      epoch,
      missingTokens,
      missingBlocks,
      nowUs,
    });
    return this.lostRow !== row;
  }

  /** Ends the leases that are due, and expects the next end. */
  leasesDue(nowUs: Micros): void {
    const { calendar, slots } = this.parts;
    this.nowUs = nowUs;
    this.source.tick({ kind: 'tick', nowUs });
    const dueUs = this.holding.nextWakeUpUs();
    if (dueUs === undefined) calendar.clear(slots.leases);
    else calendar.set(slots.leases, dueUs, TIE.lease);
  }

  transfersDue(nowUs: Micros): void {
    const { trips } = this.parts;
    this.nowUs = nowUs;
    for (const { id } of this.transfers.completed(nowUs)) {
      this.underWay--;
      const epoch = trips.epochOf(id);
      this.target(id)['transfer-done']({ kind: 'transfer-done', requestId: id, epoch, nowUs });
    }
    this.setTransferAlarm();
  }

  /**
   * An alarm only moves to an earlier instant. Nearly every lease ends early, with the first
   * heartbeat of its reader, so that an alarm which finds nothing due is rare.
   */
  'hand-over'({ requestId, generation, leaseEndsUs }: SourceDoes<'hand-over'>): void {
    const { calendar, slots, trips } = this.parts;
    trips.generation[requestId] = generation;
    if (leaseEndsUs < calendar.dueUs(slots.leases)) {
      calendar.set(slots.leases, leaseEndsUs, TIE.lease);
    }
  }

  'answer-read'(action: SourceDoes<'answer-read'>): void {
    const { engines, log } = this.parts;
    const row = action.readerRequestId;
    const from = log.prefillEngine[row]!;
    const { link, kvBytesPerToken } = engines[from]!.pool;
    this.target(row)['read-answered']({
      kind: 'read-answered',
      from,
      requestId: row,
      attempt: action.attempt,
      outcome: action.outcome,
      heldTokens: action.heldTokens,
      bytesPerSecond: link.bytesPerSecond,
      ports: link.ports,
      bytesPerToken: kvBytesPerToken,
      activeReads: action.activeReads,
      nowUs: this.nowUs,
    });
  }

  'release-blocks'({ requestId: row, reason }: SourceDoes<'release-blocks'>): void {
    const { engines, log, trips } = this.parts;
    const engine = engines[log.prefillEngine[row]!]!;
    if (reason === 'expired') engine.leaseExpiries++;
    engine.interrupt(this.nowUs);
    engine.engine.releaseHeld(trips.promptHandle[row]!);
    engine.wake(this.nowUs);
  }

  'send-heartbeats'({ requestIds }: TargetDoes<'send-heartbeats'>): void {
    const reader = this.parts.log.decodeEngine[requestIds[0]!]!;
    this.source.heartbeat({ kind: 'heartbeat', requestIds, reader, nowUs: this.nowUs });
  }

  'send-read'(action: TargetDoes<'send-read'>): void {
    const row = action.readerRequestId;
    this.source['read-requested']({
      kind: 'read-requested',
      requestId: action.requestId,
      epoch: action.epoch,
      generation: action.generation,
      reader: this.parts.log.decodeEngine[row]!,
      readerRequestId: row,
      attempt: action.attempt,
      nowUs: this.nowUs,
    });
  }

  'send-read-end'(action: TargetDoes<'send-read-end'>): void {
    const row = action.readerRequestId;
    this.source['read-ended']({
      kind: 'read-ended',
      requestId: action.requestId,
      generation: action.generation,
      reader: this.parts.log.decodeEngine[row]!,
      readerRequestId: row,
      outcome: action.outcome,
      nowUs: this.nowUs,
    });
  }

  'send-release'({ requestId, generation }: TargetDoes<'send-release'>): void {
    const reader = this.parts.log.decodeEngine[requestId]!;
    const release = { kind: 'release-requested', requestId, generation } as const;
    this.source['release-requested']({ ...release, reader, nowUs: this.nowUs });
  }

  'start-transfer'(action: TargetDoes<'start-transfer'>): void {
    const { nowUs } = this;
    const { engines, log } = this.parts;
    const { requestId: row, sourceId, blocks } = action;
    const reader = log.decodeEngine[row]!;
    const { link } = engines[reader]!.pool;
    const setupUs = this.setups[reader]?.leftUs(sourceId, blocks, nowUs) ?? 0;
    this.transfers.start({
      id: row,
      sourceId,
      targetId: reader,
      bytes: action.bytes,
      baseLatencyUs: link.baseLatencyUs + setupUs,
      sourceBytesPerSecond: action.bytesPerSecond,
      targetBytesPerSecond: link.bytesPerSecond,
      sourcePorts: action.sourcePorts,
      nowUs,
    });
    this.underWay++;
    log.transferStartUs.set(row, nowUs);
    this.setTransferAlarm();
  }

  'cancel-transfer'({ requestId }: TargetDoes<'cancel-transfer'>): void {
    if (this.transfers.cancel(requestId, this.nowUs)) this.underWay--;
    this.setTransferAlarm();
  }

  /** The single set of transfers has the counts of both ends. */
  'share-changed'(): void {}

  'set-share'(): void {}

  'kv-ready'(action: TargetDoes<'kv-ready'>): void {
    const { requestId: row, transferredTokens } = action;
    const { nowUs } = this;
    const { engines, log, trips } = this.parts;
    const engine = engines[log.decodeEngine[row]!]!;
    engine.kvTransferBytes += action.transferredBytes;
    log.transferEndUs.set(row, nowUs);
    log.transferredTokens[row] = transferredTokens;
    if (transferredTokens === 0) log.transferStartUs.set(row, nowUs);
    engine.kvArrived(trips.outputHandle[row]!, nowUs);
  }

  'kv-failed'({ requestId }: TargetDoes<'kv-failed'>): void {
    this.lostRow = requestId;
  }

  private target(row: number): Handlers<TargetFact<number>> {
    const { engines, log } = this.parts;
    return this.targets[engines[log.decodeEngine[row]!]!.poolIndex]!;
  }

  private sourceOf(row: number): SourceName<number> {
    const { log, trips } = this.parts;
    return {
      engineId: log.prefillEngine[row]!,
      requestId: row,
      epoch: trips.epochOf(row),
      generation: trips.generation[row]!,
    };
  }

  /**
   * When a transfer begins, others can be found complete; their ends are reported at this instant.
   */
  private setTransferAlarm(): void {
    const { calendar, slots } = this.parts;
    const isUntold = this.underWay > this.transfers.size;
    const dueUs = isUntold ? this.nowUs : this.transfers.nextCompletionUs();
    if (dueUs === undefined) calendar.clear(slots.transfers);
    else calendar.set(slots.transfers, dueUs, TIE.transfer);
  }

  /** The coordinator; the observer gets each of its facts and the actions that follow. */
  private observed<S extends HandoffEntry['side']>(
    side: S,
    coordinator: { handle(fact: EntryOf<S>['fact']): EntryOf<S>['actions'] },
    onHandoff: (entry: HandoffEntry<number>) => void,
  ): Handlers<EntryOf<S>['fact']> {
    const { log } = this.parts;
    const engines = side === 'source' ? log.prefillEngine : log.decodeEngine;
    const observe = (fact: EntryOf<S>['fact']): void => {
      const actions = coordinator.handle(fact);
      const engineId = 'requestId' in fact ? engines[fact.requestId]! : NONE;
      onHandoff({ side, engineId, fact, actions } as HandoffEntry<number>);
      for (const action of actions)
        deliver<SourceAction<number> | TargetAction<number>>(action, this);
    };
    return new Proxy({} as Handlers<EntryOf<S>['fact']>, { get: () => observe });
  }
}

type EntryOf<S extends HandoffEntry['side']> = Extract<HandoffEntry<number>, { side: S }>;

function targetOf(pool: EnginePool, sides: Pick<TargetOptions, 'lease' | 'rows'>): TargetOptions {
  const { ports, isTimedByTokens = false } = pool.link;
  return {
    ...sides,
    answerWithinUs: ANSWER_WITHIN_US,
    ports,
    bytesPerToken: pool.kvBytesPerToken,
    bytesPerBlock: shapeOf(pool).bytesPerBlock,
    isTimedByTokens,
  };
}

function shapeOf({ transferShape, kvBytesPerToken, options }: EnginePool): TransferShape {
  return transferShape ?? wholeBlocks(kvBytesPerToken, options.blockSize);
}
