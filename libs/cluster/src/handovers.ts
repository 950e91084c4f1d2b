import {
  type FetchFailure,
  type HandoffEntry,
  leaseTimes,
  type ReleaseReason,
  type SourceAction,
  SourceCoordinator,
  type SourceFact,
  type TargetAction,
  TargetCoordinator,
  type TargetFact,
  TransferSet,
} from '@baton/handoff';
import { type Micros, unreachable } from '@baton/kernel';
import { type Calendar, TIE } from './calendar';
import type { VirtualEngine } from './virtual-engine';

/** Nothing is lost on the way between virtual engines, so a question is answered at the instant at which it is asked. */
const ANSWER_WITHIN_US = 1_000_000;

export interface HandoverEvents {
  /** The prompt is held and may be fetched. */
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

/** Where each calendar entry of the hand-overs stands. */
export interface HandoverSlots {
  readonly source: (engine: number) => number;
  readonly target: (engine: number) => number;
  readonly transfers: number;
}

type Post =
  | { readonly side: 'source'; readonly engine: number; readonly fact: SourceFact }
  | { readonly side: 'target'; readonly engine: number; readonly fact: TargetFact };

/**
 * Drives the two coordinators of every engine and the transfers between them on the virtual clock. Messages take no time: what one side
 * sends is told to the other at the same instant, in the order of sending.
 */
export class Handovers {
  private readonly sources: SourceCoordinator[] = [];
  private readonly targets: TargetCoordinator[] = [];
  private readonly byId = new Map<string, VirtualEngine>();
  private readonly transfers = new TransferSet();
  /** Transfers whose end has not been told. */
  private underWay = 0;
  private isDelivering = false;
  private posts: Post[] = [];
  private readonly epochs: Uint16Array;
  private readonly generations: Int32Array;
  /** By row: the engine that holds, or held, its prompt; the one that fetches it. */
  private readonly holder: Int16Array;
  private readonly reader: Int16Array;

  constructor(
    count: number,
    private readonly parts: {
      readonly engines: readonly VirtualEngine[];
      readonly calendar: Calendar;
      readonly slots: HandoverSlots;
      readonly kvLeaseUs: Micros;
      readonly onHandoff?: ((entry: HandoffEntry) => void) | undefined;
    } & HandoverEvents,
  ) {
    this.epochs = new Uint16Array(count).fill(1);
    this.generations = new Int32Array(count);
    this.holder = new Int16Array(count).fill(-1);
    this.reader = new Int16Array(count).fill(-1);
  }

  /** An engine has joined. */
  add(engine: VirtualEngine): void {
    const lease = leaseTimes(this.parts.kvLeaseUs);
    this.byId.set(engine.engineId, engine);
    this.sources[engine.index] = new SourceCoordinator({ lease });
    this.targets[engine.index] = new TargetCoordinator({
      lease,
      answerWithinUs: ANSWER_WITHIN_US,
      bytesPerToken: engine.pool.kvBytesPerToken,
    });
  }

  /** Runs of the first stage that the row has had so far. */
  runsOf(row: number): number {
    return this.epochs[row]!;
  }

  /** Its KV is lost: the next prompt that is held for the row is that of another run. */
  startOver(row: number): void {
    this.epochs[row]!++;
  }

  held(row: number, engine: VirtualEngine, at: { tokens: number; nowUs: Micros }): void {
    this.holder[row] = engine.index;
    this.tellSource(engine.index, {
      kind: 'prompt-held',
      requestId: String(row),
      epoch: this.epochs[row]!,
      ...at,
    });
  }

  accepted(row: number, engine: VirtualEngine, nowUs: Micros): void {
    this.reader[row] = engine.index;
    const requestId = String(row);
    const epoch = this.epochs[row]!;
    const source = {
      engineId: this.parts.engines[this.holder[row]!]!.engineId,
      ...{ requestId, epoch },
      generation: this.generations[row]!,
    };
    this.tellTarget(engine.index, { kind: 'accepted', requestId, epoch, source, nowUs });
  }

  rejected(row: number, engine: VirtualEngine, nowUs: Micros): void {
    const requestId = String(row);
    const epoch = this.epochs[row]!;
    const source = {
      engineId: this.parts.engines[this.holder[row]!]!.engineId,
      ...{ requestId, epoch },
      generation: this.generations[row]!,
    };
    this.tellTarget(engine.index, { kind: 'rejected', requestId, epoch, source, nowUs });
  }

  reserved(row: number, missingTokens: number, nowUs: Micros): void {
    this.tellTarget(this.reader[row]!, {
      kind: 'reserved',
      requestId: String(row),
      epoch: this.epochs[row]!,
      ...{ missingTokens, nowUs },
    });
  }

  sourceTick(engine: number, nowUs: Micros): void {
    this.tellSource(engine, { kind: 'tick', nowUs });
  }

  targetTick(engine: number, nowUs: Micros): void {
    this.tellTarget(engine, { kind: 'tick', nowUs });
  }

  transfersDue(nowUs: Micros): void {
    for (const { id } of this.transfers.completed(nowUs)) {
      const row = Number(id);
      this.underWay--;
      this.post({
        side: 'target',
        engine: this.reader[row]!,
        fact: { kind: 'transfer-done', requestId: id, epoch: this.epochs[row]!, nowUs },
      });
    }
    this.deliver(nowUs);
    this.setTransferAlarm(nowUs);
  }

  private tellSource(engine: number, fact: SourceFact): void {
    this.post({ side: 'source', engine, fact });
    this.deliver(fact.nowUs);
  }

  private tellTarget(engine: number, fact: TargetFact): void {
    this.post({ side: 'target', engine, fact });
    this.deliver(fact.nowUs);
  }

  private post(post: Post): void {
    this.posts.push(post);
  }

  private deliver(nowUs: Micros): void {
    if (this.isDelivering) return;
    this.isDelivering = true;
    for (let next = 0; next < this.posts.length; next++) {
      const post = this.posts[next]!;
      if (post.side === 'source') this.atSource(post.engine, post.fact, nowUs);
      else this.atTarget(post.engine, post.fact, nowUs);
    }
    this.posts.length = 0;
    this.isDelivering = false;
  }

  private atSource(engine: number, fact: SourceFact, nowUs: Micros): void {
    const source = this.sources[engine]!;
    const actions = source.handle(fact);
    this.parts.onHandoff?.({ side: 'source', engineId: this.idOf(engine), fact, actions });
    for (const action of actions) this.carryOutSource(engine, action, nowUs);
    this.setAlarm(this.parts.slots.source(engine), source.nextWakeUpUs(), nowUs);
  }

  private atTarget(engine: number, fact: TargetFact, nowUs: Micros): void {
    const target = this.targets[engine]!;
    const actions = target.handle(fact);
    this.parts.onHandoff?.({ side: 'target', engineId: this.idOf(engine), fact, actions });
    for (const action of actions) this.carryOutTarget(engine, action, nowUs);
    this.setAlarm(this.parts.slots.target(engine), target.nextWakeUpUs(), nowUs);
  }

  private carryOutSource(engine: number, action: SourceAction, nowUs: Micros): void {
    const { engines } = this.parts;
    switch (action.kind) {
      case 'hand-over': {
        const row = Number(action.requestId);
        this.generations[row] = action.generation;
        return this.parts.onOffered(row, nowUs);
      }
      case 'answer-read': {
        const { attempt, outcome, heldTokens, activeReads } = action;
        return this.post({
          side: 'target',
          engine: this.byId.get(action.to)!.index,
          fact: {
            kind: 'read-answered',
            from: engines[engine]!.engineId,
            requestId: action.readerRequestId,
            ...{ attempt, outcome, heldTokens, activeReads, nowUs },
            bytesPerSecond: engines[engine]!.pool.link.bytesPerSecond,
          },
        });
      }
      case 'share-changed':
        // The one set of transfers knows how many there are at each end.
        return;
      case 'release-blocks': {
        const { reason } = action;
        return this.parts.onReleased(engines[engine]!, Number(action.requestId), { reason, nowUs });
      }
      default:
        return unreachable(action);
    }
  }

  private carryOutTarget(engine: number, action: TargetAction, nowUs: Micros): void {
    const { engines } = this.parts;
    const reader = engines[engine]!.engineId;
    switch (action.kind) {
      case 'send-read': {
        const { requestId, epoch, generation, attempt, readerRequestId } = action;
        return this.postToSource(action.to, {
          kind: 'read-requested',
          ...{ requestId, epoch, generation, attempt, readerRequestId, reader, nowUs },
        });
      }
      case 'send-read-end': {
        const { requestId, generation, readerRequestId, outcome } = action;
        return this.postToSource(action.to, {
          kind: 'read-ended',
          ...{ requestId, generation, readerRequestId, outcome, reader, nowUs },
        });
      }
      case 'send-heartbeats': {
        const { requestIds } = action;
        return this.postToSource(action.to, { kind: 'heartbeat', requestIds, reader, nowUs });
      }
      case 'send-release': {
        const { requestId, generation } = action;
        const fact = { kind: 'release-requested', requestId, generation, reader, nowUs } as const;
        return this.postToSource(action.to, fact);
      }
      case 'start-transfer':
        return this.startTransfer(engines[engine]!, action, nowUs);
      case 'set-share':
        return;
      case 'cancel-transfer':
        if (this.transfers.cancel(action.requestId, nowUs)) this.underWay--;
        return this.setTransferAlarm(nowUs);
      case 'kv-ready':
        engines[engine]!.kvTransferBytes += action.transferredBytes;
        return this.parts.onKvReady(Number(action.requestId), action.transferredTokens, nowUs);
      case 'kv-failed':
        return this.parts.onKvFailed(Number(action.requestId), action.why, nowUs);
      default:
        return unreachable(action);
    }
  }

  private idOf(engine: number): string {
    return this.parts.engines[engine]!.engineId;
  }

  private postToSource(to: string, fact: SourceFact): void {
    this.post({ side: 'source', engine: this.byId.get(to)!.index, fact });
  }

  private startTransfer(
    target: VirtualEngine,
    action: Extract<TargetAction, { kind: 'start-transfer' }>,
    nowUs: Micros,
  ): void {
    const { link } = target.pool;
    this.transfers.start({
      id: action.requestId,
      sourceId: action.sourceId,
      targetId: target.engineId,
      bytes: action.bytes,
      baseLatencyUs: link.baseLatencyUs,
      sourceBytesPerSecond: action.bytesPerSecond,
      targetBytesPerSecond: link.bytesPerSecond,
      nowUs,
    });
    this.underWay++;
    this.parts.onTransferStarted(Number(action.requestId), nowUs);
    this.setTransferAlarm(nowUs);
  }

  /** A transfer that was found complete while another one began has its end told at this very instant. */
  private setTransferAlarm(nowUs: Micros): void {
    const { calendar, slots } = this.parts;
    const isUntold = this.underWay > this.transfers.size;
    const dueUs = isUntold ? nowUs : this.transfers.nextCompletionUs();
    if (dueUs === undefined) calendar.clear(slots.transfers);
    else calendar.set(slots.transfers, dueUs, TIE.transfer);
  }

  private setAlarm(slot: number, dueUs: Micros | undefined, nowUs: Micros): void {
    const { calendar } = this.parts;
    if (dueUs === undefined) calendar.clear(slot);
    else calendar.set(slot, Math.max(nowUs, dueUs), TIE.lease);
  }
}
