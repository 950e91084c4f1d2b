import { type Deadline, newDeadline } from '@baton/kernel';
import type { HoldingView, ReleaseReason } from './source-protocol';
import type { AnyId } from './request-table';

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

  /** @param isRouted  true when the cluster itself routes the reader */
  constructor(
    readonly requestId: Id,
    readonly epoch: number,
    readonly generation: number,
    readonly tokens: number,
    readonly isRouted: boolean,
  ) {}
}

/** One reader's read of a holding. */
export class Read<Id extends AnyId> implements ReaderName<Id> {
  /** The newest request that was answered. */
  attempt = 0;
  isActive = false;
  /** End of the read without a heartbeat, where a heartbeat can fail to come. */
  limit: Deadline<Read<Id>> | undefined = undefined;
  next: Read<Id> | undefined = undefined;

  constructor(
    readonly holding: Holding<Id>,
    readonly reader: Id,
    readonly readerRequestId: Id,
  ) {}
}

export function addRead<Id extends AnyId>(
  holding: Holding<Id>,
  { reader, readerRequestId }: ReaderName<Id>,
): Read<Id> {
  const read = new Read(holding, reader, readerRequestId);
  const last = lastRead(holding);
  if (last === undefined) holding.firstRead = read;
  else last.next = read;
  return read;
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
    if (!read.isActive) continue;
    reads.push({ reader, readerRequestId, endsUs: limit?.dueUs ?? Infinity });
  }
  return { requestId, epoch, generation, tokens, leaseEndsUs, reads };
}
