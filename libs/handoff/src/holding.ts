import type { Deadline } from './deadline-list';
import type { AnyId } from './id-map';
import type { HoldingView, ReleaseReason } from './source-protocol';

/** The blocks of one computed prompt that wait for a reader. */
export interface Holding<Id extends AnyId> {
  readonly requestId: Id;
  readonly epoch: number;
  readonly generation: number;
  readonly tokens: number;
  /** Undefined for a holding that is let go as it comes. */
  lease: Deadline<Holding<Id>> | undefined;
  /** All that were answered with blocks, ended ones included, so that a late question is recognised. */
  reads: readonly Read<Id>[];
  activeReads: number;
  /** Set when no new read is admitted: why the blocks go once the last read has ended. */
  closing: ReleaseReason | undefined;
}

/** One reader's read of a holding. */
export interface Read<Id extends AnyId> {
  readonly holding: Holding<Id>;
  readonly reader: Id;
  readonly readerRequestId: Id;
  /** The newest question that was answered. */
  attempt: number;
  /** Until when the read may last without a heartbeat; undefined when it has ended. */
  limit: Deadline<Read<Id>> | undefined;
}

export interface HoldingName<Id extends AnyId> {
  readonly requestId: Id;
  readonly epoch: number;
  readonly generation: number;
}

const NO_READS: readonly never[] = [];

export function newHolding<Id extends AnyId>(name: HoldingName<Id>, tokens: number): Holding<Id> {
  return {
    requestId: name.requestId,
    epoch: name.epoch,
    generation: name.generation,
    tokens,
    lease: undefined,
    reads: NO_READS,
    activeReads: 0,
    closing: undefined,
  };
}

/** There is nearly always one, in an array of that length. */
export function addRead<Id extends AnyId>(read: Read<Id>): void {
  const { holding } = read;
  holding.reads = holding.reads.length === 0 ? [read] : [...holding.reads, read];
}

export function findRead<Id extends AnyId>(
  holding: Holding<Id>,
  reader: Id,
  readerRequestId: Id,
): Read<Id> | undefined {
  for (const read of holding.reads) {
    if (read.reader === reader && read.readerRequestId === readerRequestId) return read;
  }
  return undefined;
}

export function viewOf<Id extends AnyId>(holding: Holding<Id>): HoldingView<Id> {
  const { requestId, epoch, generation, tokens } = holding;
  const leaseEndsUs = holding.lease?.chain === undefined ? undefined : holding.lease.dueUs;
  const reads = holding.reads.flatMap(({ reader, readerRequestId, limit }) =>
    limit === undefined ? [] : [{ reader, readerRequestId, endsUs: limit.dueUs }],
  );
  return { requestId, epoch, generation, tokens, leaseEndsUs, reads };
}
