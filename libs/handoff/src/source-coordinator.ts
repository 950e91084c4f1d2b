import { type AnyId, type Deadline, IdMap, type Micros, unreachable } from '@baton/kernel';
import {
  findRead,
  type Holding,
  type HoldingName,
  HoldingPool,
  type Read,
  readersOf,
  viewOf,
} from './holding';
import { LeaseBook, type LeaseTimes } from './lease';
import { Outbox } from './outbox';
import { ReaderCounts } from './reader-counts';
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
   * Whether `share-changed` is sent (default true). False when one `TransferSet` has the transfers
   * of all engines and counts by itself.
   */
  readonly sendsShares?: boolean;
}

type Fact<Id extends AnyId, K extends SourceFact['kind']> = Extract<SourceFact<Id>, { kind: K }>;

/**
 * Owns the holdings of one engine: the prompts whose blocks are kept for a reader, the ends of
 * their leases, and the engines that read them. The engine's driver passes facts in and carries out
 * the returned actions. Only the coordinator decides that a lease has ended, by the instants passed
 * in; it never touches a block or sends a message itself. A fact that is repeated, late or about an
 * unknown request has no effect.
 *
 * At one instant facts come before expiry: a heartbeat or read at the very end of a lease is in
 * time, and `tick` then ends what is due.
 */
export class SourceCoordinator<Id extends AnyId = string> {
  private readonly holdings = new IdMap<Id, Holding<Id>>();
  private readonly pool = new HoldingPool<Id>();
  private readonly leases: LeaseBook<Holding<Id>>;
  /** The leases of reads: each lasts L from its start, and the reader's heartbeats renew it. */
  private readonly limits: LeaseBook<Read<Id>>;
  /** Undefined when no reader needs it. */
  private readonly readers: ReaderCounts<Id> | undefined;
  private activeReads = 0;
  private readonly over: Tombstones<Id>;
  private readonly outbox = new Outbox<SourceAction<Id>>();
  private readonly tally = {
    held: 0,
    released: { 'read-done': 0, expired: 0, aborted: 0, superseded: 0, rejected: 0 },
    reads: 0,
    staleReads: 0,
    lostReads: 0,
    renewals: 0,
  };
  private nextGeneration: number;
  private nowUs: Micros = 0;

  constructor(options: SourceOptions) {
    this.leases = new LeaseBook(options.lease);
    this.limits = new LeaseBook(options.lease);
    this.over = new Tombstones(options.lease.leaseUs);
    if (options.sendsShares ?? true) this.readers = new ReaderCounts();
    this.nextGeneration = options.firstGeneration ?? 1;
  }

  get counters(): SourceCounters {
    return this.tally;
  }

  /** The actions that follow from `fact`, and from leases that ended before it. */
  handle(fact: SourceFact<Id>): readonly SourceAction<Id>[] {
    this.nowUs = Math.max(this.nowUs, fact.nowUs);
    const readsBefore = this.activeReads;
    this.expireBefore(this.nowUs);
    this.apply(fact);
    if (this.activeReads !== readsBefore) this.sendShares();
    return this.outbox.take();
  }

  /** Latest time for the next `tick`; undefined when nothing is held. */
  nextWakeUpUs(): Micros | undefined {
    return this.nextEnd()?.dueUs;
  }

  /** All holdings, under names in the order in which their requests first came. */
  snapshot(): HoldingView<Id>[] {
    return this.holdings.values().map((holding) => viewOf(holding));
  }

  private apply(fact: SourceFact<Id>): void {
    switch (fact.kind) {
      case 'prompt-held':
        return this.hold(fact);
      case 'read-requested':
        return this.answer(fact);
      case 'read-ended':
        return this.endRead(fact);
      case 'heartbeat':
        return this.renew(fact);
      case 'release-requested':
        return this.reject(fact);
      case 'aborted':
        return this.revoke(fact.requestId, EVERY_EPOCH, 'aborted');
      case 'superseded':
        return this.revoke(fact.requestId, fact.epoch, 'superseded');
      case 'tick':
        return this.expireBefore(this.nowUs + 1);
      default:
        return unreachable(fact);
    }
  }

  private hold(fact: Fact<Id, 'prompt-held'>): void {
    const { requestId, epoch, tokens } = fact;
    const current = this.holdings.get(requestId);
    const tombstone = this.over.find(requestId);
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
    const holding = this.pool.open(name, tokens);
    holding.isRouted = fact.isRouted === true;
    if (fact.isKept === true) this.leases.keep(holding.lease, this.nowUs);
    else if (holding.isRouted) this.leases.openRouted(holding.lease, this.nowUs);
    else this.leases.open(holding.lease, this.nowUs);
    this.holdings.set(requestId, holding);
    this.outbox.push({
      kind: 'hand-over',
      requestId,
      epoch,
      generation: holding.generation,
      heldTokens: tokens,
      leaseEndsUs: holding.lease.dueUs,
    });
  }

  private answer(fact: Fact<Id, 'read-requested'>): void {
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
    const read = known ?? this.pool.addRead(holding, fact);
    read.attempt = fact.attempt;
    if (holding.isRouted) this.limits.openRouted(read.limit, this.nowUs);
    else this.limits.open(read.limit, this.nowUs);
    holding.activeReads += 1;
    this.activeReads += 1;
    this.readers?.add(fact.reader);
    this.tally.reads += 1;
    this.giveBlocks(fact, holding);
  }

  private giveBlocks(fact: Fact<Id, 'read-requested'>, holding: Holding<Id>): void {
    this.outbox.push({
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
    this.outbox.push({
      kind: 'answer-read',
      to: read.reader,
      readerRequestId: read.readerRequestId,
      attempt: read.attempt,
      outcome: 'expired',
      heldTokens: 0,
      activeReads: this.activeReads,
    });
  }

  private endRead(fact: Fact<Id, 'read-ended'>): void {
    const holding = this.holdings.get(fact.requestId);
    if (holding?.generation !== fact.generation) return;
    const read = findRead(holding, fact);
    if (read !== undefined) this.stopRead(read);
    if (fact.outcome === 'done') this.closeHolding(holding, 'read-done');
    this.releaseIfUnread(holding);
  }

  private renew(fact: Fact<Id, 'heartbeat'>): void {
    for (const requestId of fact.requestIds) {
      const holding = this.holdings.get(requestId);
      if (holding === undefined) continue;
      this.tally.renewals += 1;
      this.leases.renew(holding.lease, this.nowUs);
      for (let read = holding.firstRead; read !== undefined; read = read.next) {
        if (read.reader === fact.reader) this.limits.renew(read.limit, this.nowUs);
      }
    }
  }

  private reject(fact: Fact<Id, 'release-requested'>): void {
    const holding = this.holdings.get(fact.requestId);
    if (holding === undefined) return;
    if (fact.generation !== undefined && fact.generation !== holding.generation) return;
    for (let read = holding.firstRead; read !== undefined; read = read.next) {
      if (read.reader === fact.reader) this.stopRead(read);
    }
    if (holding.closing === undefined) this.closeHolding(holding, 'rejected');
    this.releaseIfUnread(holding);
  }

  private revoke(requestId: Id, epoch: number, reason: 'aborted' | 'superseded'): void {
    this.over.raise(requestId, epoch, this.nowUs);
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
    this.limits.endLease(read.limit);
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
    this.pool.closeHolding(holding);
  }

  private releaseBlocks(name: HoldingName<Id>, reason: ReleaseReason, readers: number): void {
    const { requestId, epoch, generation } = name;
    this.over.bury(requestId, epoch, this.nowUs);
    this.tally.released[reason] += 1;
    this.outbox.push({
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
    for (let end = this.nextEnd(); end !== undefined && end.dueUs < endUs; end = this.nextEnd()) {
      const { owner } = end;
      const holding = 'holding' in owner ? owner.holding : owner;
      if ('holding' in owner) this.loseRead(owner);
      else this.closeHolding(owner, 'expired');
      this.releaseIfUnread(holding);
    }
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
