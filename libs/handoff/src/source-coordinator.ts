import { type Deadline, type Micros, newDeadline, NOT_YET } from '@baton/kernel';
import { deliver, type Handlers } from './handlers';
import {
  addRead,
  findRead,
  Holding,
  type HoldingName,
  type Read,
  readersOf,
  viewOf,
} from './holding';
import { LeaseBook, type LeaseTimes } from './lease';
import { Outbox } from './outbox';
import { ReaderCounts } from './reader-counts';
import { type AnyId, newRequestTable, type RequestTable } from './request-table';
import type {
  HoldingView,
  ReleaseReason,
  SourceAction,
  SourceCounters,
  SourceFact,
} from './source-protocol';
import { EVERY_EPOCH, isBuried, overEpochOf, Tombstones } from './tombstones';

export interface SourceOptions {
  readonly lease: LeaseTimes;
  /**
   * First generation (default 1). A separate range per incarnation of an engine makes the names of
   * the former one void.
   */
  readonly firstGeneration?: number;
  /**
   * Set where one driver has both sides of every hand-over, as the virtual clock does, and names
   * requests by rows below this number. Each message then comes once and at its instant, so no
   * heartbeat is late: the first one ends the lease, because all others would come in time. One
   * coordinator serves all engines, and one `TransferSet` counts their transfers.
   */
  readonly rows?: number;
}

type Fact<Id extends AnyId, K extends SourceFact['kind']> = Extract<SourceFact<Id>, { kind: K }>;

/**
 * Owns the holdings of an engine: the prompts whose blocks are kept for a reader, the ends of
 * their leases, and the engines that read them. The engine's driver passes facts in and carries out
 * the returned actions. Only the coordinator decides that a lease has ended, by the instants passed
 * in; it never touches a block or sends a message itself. A fact that is repeated, late or about an
 * unknown request has no effect.
 *
 * At one instant facts come before expiry: a heartbeat or read at the very end of a lease is in
 * time, and `tick` then ends what is due.
 */
export class SourceCoordinator<Id extends AnyId = string> implements Handlers<SourceFact<Id>> {
  private readonly holdings: RequestTable<Id, Holding<Id>>;
  private readonly leases: LeaseBook<Holding<Id>>;
  /** The leases of reads: each lasts L from its start, and the reader's heartbeats renew it. */
  private readonly limits: LeaseBook<Read<Id>>;
  /** No lease or read ends before this instant. */
  private earliestEndUs: Micros = Infinity;
  private activeReads = 0;
  /** These two serve only where messages can be lost, repeated or late. */
  private readonly readers: ReaderCounts<Id> | undefined;
  private readonly over: Tombstones<Id> | undefined;
  private readonly outbox = new Outbox<SourceAction<Id>>();
  private readonly actions: Handlers<SourceAction<Id>>;
  private readonly tally = {
    held: 0,
    released: { 'read-done': 0, expired: 0, aborted: 0, superseded: 0, rejected: 0 },
    reads: 0,
    staleReads: 0,
    lostReads: 0,
    renewals: 0,
  };
  private readonly isLossless: boolean;
  private nextGeneration: number;
  private nowUs: Micros = NOT_YET;

  /** @param actions  gets the actions instead of the callers of `handle` */
  constructor(options: SourceOptions, actions?: Handlers<SourceAction<Id>>) {
    const keep = (action: SourceAction<Id>): void => this.outbox.push(action);
    this.actions = actions ?? {
      'hand-over': keep,
      'answer-read': keep,
      'share-changed': keep,
      'release-blocks': keep,
    };
    this.isLossless = options.rows !== undefined;
    this.holdings = newRequestTable(options.rows);
    this.leases = new LeaseBook(options.lease);
    this.limits = new LeaseBook(options.lease);
    if (!this.isLossless) {
      this.over = new Tombstones(options.lease.leaseUs);
      this.readers = new ReaderCounts();
    }
    this.nextGeneration = options.firstGeneration ?? 1;
  }

  get counters(): SourceCounters {
    return this.tally;
  }

  /** The actions that follow from `fact`, and from leases that ended before it. */
  handle(fact: SourceFact<Id>): readonly SourceAction<Id>[] {
    const readsBefore = this.activeReads;
    deliver(fact, this);
    if (this.activeReads !== readsBefore) this.sendShares();
    return this.outbox.take();
  }

  /** Latest time for the next `tick`; undefined when nothing is held. */
  nextWakeUpUs(): Micros | undefined {
    return this.nextEnd()?.dueUs;
  }

  /** All holdings, under names in the order in which their requests first came. */
  snapshot(): HoldingView<Id>[] {
    return Array.from(this.holdings.values(), (holding) => viewOf(holding));
  }

  'prompt-held'(fact: Fact<Id, 'prompt-held'>): void {
    this.advance(fact.nowUs);
    const { requestId, epoch, tokens } = fact;
    const current = this.holdings.get(requestId);
    const tombstone = this.over?.find(requestId);
    if (current?.epoch === epoch || isBuried(tombstone, epoch)) return;
    const name = { requestId, epoch, generation: this.nextGeneration };
    this.nextGeneration += 1;
    this.tally.held += 1;
    const overEpoch = overEpochOf(tombstone);
    if (epoch <= overEpoch || epoch < (current?.epoch ?? -1)) {
      this.releaseBlocks(name, overEpoch === EVERY_EPOCH ? 'aborted' : 'superseded', 0);
      return;
    }
    if (current !== undefined) this.cut(current, 'superseded');
    const isRouted = fact.isRouted === true;
    const holding = new Holding(requestId, epoch, name.generation, tokens, isRouted);
    if (fact.isKept === true) this.leases.keep(holding.lease, this.nowUs);
    else if (holding.isRouted) this.leases.openRouted(holding.lease, this.nowUs);
    else this.leases.open(holding.lease, this.nowUs);
    this.earliestEndUs = Math.min(this.earliestEndUs, holding.lease.dueUs);
    this.holdings.set(requestId, holding);
    this.actions['hand-over']({
      kind: 'hand-over',
      requestId,
      epoch,
      generation: holding.generation,
      heldTokens: tokens,
      leaseEndsUs: holding.lease.dueUs,
    });
  }

  'read-requested'(fact: Fact<Id, 'read-requested'>): void {
    this.advance(fact.nowUs);
    const holding = this.holdings.get(fact.requestId);
    if (holding?.generation !== fact.generation || holding.epoch !== fact.epoch) {
      this.refuseRead(fact);
      return;
    }
    const known = findRead(holding, fact);
    if (known?.isActive === true) {
      known.attempt = Math.max(known.attempt, fact.attempt);
      this.giveBlocks(fact, holding);
    } else if (known === undefined || fact.attempt > known.attempt) {
      if (holding.closing === undefined) this.startRead(fact, holding, known);
      else this.refuseRead(fact);
    }
  }

  private startRead(
    fact: Fact<Id, 'read-requested'>,
    holding: Holding<Id>,
    known?: Read<Id>,
  ): void {
    const read = known ?? addRead(holding, fact);
    read.attempt = fact.attempt;
    read.isActive = true;
    this.limitRead(read);
    holding.activeReads += 1;
    this.activeReads += 1;
    this.readers?.add(fact.reader);
    this.tally.reads += 1;
    this.giveBlocks(fact, holding);
  }

  private limitRead(read: Read<Id>): void {
    if (this.isLossless) return;
    const limit = (read.limit ??= newDeadline(read));
    if (read.holding.isRouted) this.limits.openRouted(limit, this.nowUs);
    else this.limits.open(limit, this.nowUs);
    this.earliestEndUs = Math.min(this.earliestEndUs, limit.dueUs);
  }

  private giveBlocks(fact: Fact<Id, 'read-requested'>, holding: Holding<Id>): void {
    this.actions['answer-read']({
      kind: 'answer-read',
      to: fact.reader,
      readerRequestId: fact.readerRequestId,
      attempt: fact.attempt,
      outcome: 'blocks',
      heldTokens: holding.tokens,
      activeReads: this.activeReads,
    });
  }

  private refuseRead(read: Pick<Read<Id>, 'reader' | 'readerRequestId' | 'attempt'>): void {
    this.tally.staleReads += 1;
    this.actions['answer-read']({
      kind: 'answer-read',
      to: read.reader,
      readerRequestId: read.readerRequestId,
      attempt: read.attempt,
      outcome: 'expired',
      heldTokens: 0,
      activeReads: this.activeReads,
    });
  }

  'read-ended'(fact: Fact<Id, 'read-ended'>): void {
    this.advance(fact.nowUs);
    const holding = this.holdings.get(fact.requestId);
    if (holding?.generation !== fact.generation) return;
    const read = findRead(holding, fact);
    if (read !== undefined) this.stopRead(read);
    if (fact.outcome === 'done') this.closeHolding(holding, 'read-done');
    this.releaseIfUnread(holding);
  }

  heartbeat(fact: Fact<Id, 'heartbeat'>): void {
    this.advance(fact.nowUs);
    for (const requestId of fact.requestIds) {
      const holding = this.holdings.get(requestId);
      if (holding === undefined) continue;
      this.tally.renewals += 1;
      if (this.isLossless) {
        this.leases.endLease(holding.lease);
        continue;
      }
      this.leases.renew(holding.lease, this.nowUs);
      for (let read = holding.firstRead; read !== undefined; read = read.next) {
        if (read.reader === fact.reader && read.limit) this.limits.renew(read.limit, this.nowUs);
      }
    }
  }

  'release-requested'(fact: Fact<Id, 'release-requested'>): void {
    this.advance(fact.nowUs);
    const holding = this.holdings.get(fact.requestId);
    if (holding === undefined) return;
    if (fact.generation !== undefined && fact.generation !== holding.generation) return;
    for (let read = holding.firstRead; read !== undefined; read = read.next) {
      if (read.reader === fact.reader) this.stopRead(read);
    }
    if (holding.closing === undefined) this.closeHolding(holding, 'rejected');
    this.releaseIfUnread(holding);
  }

  aborted({ requestId, nowUs }: Fact<Id, 'aborted'>): void {
    this.advance(nowUs);
    this.revoke(requestId, EVERY_EPOCH, 'aborted');
  }

  superseded({ requestId, epoch, nowUs }: Fact<Id, 'superseded'>): void {
    this.advance(nowUs);
    this.revoke(requestId, epoch, 'superseded');
  }

  tick({ nowUs }: Fact<Id, 'tick'>): void {
    this.advance(nowUs);
    this.expireBefore(this.nowUs + 1);
  }

  /** Ends what ended before this instant. */
  private advance(nowUs: Micros): void {
    this.nowUs = Math.max(this.nowUs, nowUs);
    this.expireBefore(this.nowUs);
  }

  private revoke(requestId: Id, epoch: number, reason: 'aborted' | 'superseded'): void {
    this.over?.raise(requestId, epoch, this.nowUs);
    const holding = this.holdings.get(requestId);
    if (holding !== undefined && holding.epoch <= epoch) this.cut(holding, reason);
  }

  /**
   * Frees the blocks even if an engine is reading them; readers get a message that they are void.
   */
  private cut(holding: Holding<Id>, reason: ReleaseReason): void {
    for (let read = holding.firstRead; read !== undefined; read = read.next) {
      if (!read.isActive) continue;
      this.stopRead(read);
      this.refuseRead(read);
    }
    this.release(holding, reason);
  }

  private closeHolding(holding: Holding<Id>, reason: ReleaseReason): void {
    holding.closing = reason;
    this.leases.endLease(holding.lease);
  }

  private stopRead(read: Read<Id>): void {
    if (!read.isActive) return;
    read.isActive = false;
    if (read.limit) this.limits.endLease(read.limit);
    read.holding.activeReads -= 1;
    this.activeReads -= 1;
    this.readers?.remove(read.reader);
  }

  private releaseIfUnread(holding: Holding<Id>): void {
    if (holding.closing !== undefined && holding.activeReads === 0) {
      this.release(holding, holding.closing);
    }
  }

  private release(holding: Holding<Id>, reason: ReleaseReason): void {
    this.closeHolding(holding, reason);
    this.holdings.delete(holding.requestId);
    this.releaseBlocks(holding, reason, readersOf(holding));
  }

  private releaseBlocks(name: HoldingName<Id>, reason: ReleaseReason, readers: number): void {
    const { requestId, epoch, generation } = name;
    this.over?.bury(requestId, epoch, this.nowUs);
    this.tally.released[reason] += 1;
    this.actions['release-blocks']({
      kind: 'release-blocks',
      requestId,
      epoch,
      generation,
      reason,
      readers,
    });
  }

  /** Ends, in the order of their ends, the leases and reads whose end lies before `endUs`. */
  private expireBefore(endUs: Micros): void {
    if (this.earliestEndUs >= endUs) return;
    let end = this.nextEnd();
    for (; end !== undefined && end.dueUs < endUs; end = this.nextEnd()) {
      const { owner } = end;
      const holding = 'holding' in owner ? owner.holding : owner;
      if ('holding' in owner) this.loseRead(owner);
      else this.closeHolding(owner, 'expired');
      this.releaseIfUnread(holding);
    }
    this.earliestEndUs = end?.dueUs ?? Infinity;
  }

  /**
   * The reader has been silent for too long. If it still runs, this message forbids it to use the
   * blocks.
   */
  private loseRead(read: Read<Id>): void {
    this.tally.lostReads += 1;
    this.stopRead(read);
    this.refuseRead(read);
  }

  private nextEnd(): Deadline<Holding<Id>> | Deadline<Read<Id>> | undefined {
    const lease = this.leases.earliest();
    const limit = this.limits.earliest();
    if (lease === undefined || limit === undefined) return lease ?? limit;
    return lease.dueUs < limit.dueUs ? lease : limit;
  }

  private sendShares(): void {
    if (this.readers === undefined) return;
    const { activeReads, outbox } = this;
    const readers = this.readers
      .names()
      .filter((reader) => !outbox.some((action) => getsShare(action, reader, activeReads)));
    if (readers.length > 0) outbox.push({ kind: 'share-changed', readers, activeReads });
  }
}

/** Whether the reader gets the new count with the answer of this call. */
function getsShare<Id extends AnyId>(
  action: SourceAction<Id>,
  reader: Id,
  activeReads: number,
): boolean {
  return (
    action.kind === 'answer-read' && action.to === reader && action.activeReads === activeReads
  );
}
