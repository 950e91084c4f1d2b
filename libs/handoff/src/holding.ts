import { type AnyId, newDeadline, Pool } from '@baton/kernel';
import type { HoldingView, ReleaseReason } from './source-protocol';

export interface HoldingName<Id extends AnyId> {
  readonly requestId: Id;
  readonly epoch: number;
  readonly generation: number;
}

export interface ReaderName<Id extends AnyId> {
  readonly reader: Id;
  readonly readerRequestId: Id;
}

/** The blocks of one computed prompt that wait for a reader. */
export class Holding<Id extends AnyId> implements HoldingName<Id> {
  epoch = 0;
  generation = 0;
  tokens = 0;
  /** True when the cluster itself routes the reader. */
  isRouted = false;
  /** Set as long as new reads are admitted. */
  readonly lease = newDeadline<Holding<Id>>(this);
  /**
   * The first read that was answered with blocks; the others follow as `next`. Ended reads stay, so
   * that a late request is recognised.
   */
  firstRead: Read<Id> | undefined = undefined;
  activeReads = 0;
  /**
   * The reason for which the blocks are freed after the last read. Set when no new read is
   * admitted.
   */
  closing: ReleaseReason | undefined = undefined;

  constructor(public requestId: Id) {}
}

/** One reader's read of a holding. */
export class Read<Id extends AnyId> implements ReaderName<Id> {
  /** The newest request that was answered. */
  attempt = 0;
  /** End of the read without a heartbeat; set as long as it is under way. */
  readonly limit = newDeadline<Read<Id>>(this);
  next: Read<Id> | undefined = undefined;

  constructor(
    public holding: Holding<Id>,
    public reader: Id,
    public readerRequestId: Id,
  ) {}

  get isActive(): boolean {
    return this.limit.chain !== undefined;
  }
}

/** Makes holdings and their reads, reusing objects where possible. */
export class HoldingPool<Id extends AnyId> {
  private readonly holdings = new Pool<Holding<Id>>();
  private readonly reads = new Pool<Read<Id>>();

  open(name: HoldingName<Id>, tokens: number): Holding<Id> {
    const holding = this.holdings.take() ?? new Holding(name.requestId);
    holding.requestId = name.requestId;
    holding.epoch = name.epoch;
    holding.generation = name.generation;
    holding.tokens = tokens;
    holding.isRouted = false;
    holding.firstRead = undefined;
    holding.activeReads = 0;
    holding.closing = undefined;
    return holding;
  }

  addRead(holding: Holding<Id>, { reader, readerRequestId }: ReaderName<Id>): Read<Id> {
    const read = this.reads.take() ?? new Read(holding, reader, readerRequestId);
    read.holding = holding;
    read.reader = reader;
    read.readerRequestId = readerRequestId;
    read.next = undefined;
    const last = lastRead(holding);
    if (last === undefined) holding.firstRead = read;
    else last.next = read;
    return read;
  }

  /** Takes back a holding and its reads when nothing refers to them. */
  closeHolding(holding: Holding<Id>): void {
    for (let read = holding.firstRead; read !== undefined; read = read.next) this.reads.give(read);
    this.holdings.give(holding);
  }
}

function lastRead<Id extends AnyId>(holding: Holding<Id>): Read<Id> | undefined {
  let last = holding.firstRead;
  while (last?.next !== undefined) last = last.next;
  return last;
}

export function findRead<Id extends AnyId>(
  holding: Holding<Id>,
  { reader, readerRequestId }: ReaderName<Id>,
): Read<Id> | undefined {
  let read = holding.firstRead;
  while (read !== undefined) {
    if (read.reader === reader && read.readerRequestId === readerRequestId) return read;
    read = read.next;
  }
  return undefined;
}

/** The number of engines that got the blocks. */
export function readersOf<Id extends AnyId>(holding: Holding<Id>): number {
  let readers = 0;
  for (let read = holding.firstRead; read !== undefined; read = read.next) readers += 1;
  return readers;
}

export function viewOf<Id extends AnyId>(holding: Holding<Id>): HoldingView<Id> {
  const { requestId, epoch, generation, tokens, lease } = holding;
  const leaseEndsUs = lease.chain === undefined ? undefined : lease.dueUs;
  const reads = [];
  for (let read = holding.firstRead; read !== undefined; read = read.next) {
    const { reader, readerRequestId, limit } = read;
    if (read.isActive) reads.push({ reader, readerRequestId, endsUs: limit.dueUs });
  }
  return { requestId, epoch, generation, tokens, leaseEndsUs, reads };
}
