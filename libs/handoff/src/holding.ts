import type { Deadline } from './deadline-list';
import type { HoldingView, ReleaseReason } from './source-protocol';

/** The blocks of one computed prompt that wait for a reader. */
export interface Holding {
  readonly requestId: string;
  readonly epoch: number;
  readonly generation: number;
  readonly tokens: number;
  lease: Deadline<Holding> | undefined;
  /** All that were answered with blocks, ended ones included, so that a late question is recognised. */
  readonly reads: Read[];
  activeReads: number;
  /** Set when no new read is admitted: why the blocks go once the last read has ended. */
  closing: ReleaseReason | undefined;
}

/** One reader's read of a holding. */
export interface Read {
  readonly holding: Holding;
  readonly reader: string;
  readonly readerRequestId: string;
  /** The newest question that was answered. */
  attempt: number;
  /** Until when the read may last without a heartbeat; undefined when it has ended. */
  limit: Deadline<Read> | undefined;
}

export interface HoldingName {
  readonly requestId: string;
  readonly epoch: number;
  readonly generation: number;
}

export function newHolding(name: HoldingName, tokens: number): Holding {
  const { requestId, epoch, generation } = name;
  return {
    requestId,
    epoch,
    generation,
    tokens,
    lease: undefined,
    reads: [],
    activeReads: 0,
    closing: undefined,
  };
}

export function findRead(
  holding: Holding,
  reader: string,
  readerRequestId: string,
): Read | undefined {
  return holding.reads.find(
    (read) => read.reader === reader && read.readerRequestId === readerRequestId,
  );
}

export function viewOf(holding: Holding): HoldingView {
  const { requestId, epoch, generation, tokens } = holding;
  const leaseEndsUs = holding.lease?.list === undefined ? undefined : holding.lease.dueUs;
  const reads = holding.reads.flatMap(({ reader, readerRequestId, limit }) =>
    limit === undefined ? [] : [{ reader, readerRequestId, endsUs: limit.dueUs }],
  );
  return { requestId, epoch, generation, tokens, leaseEndsUs, reads };
}
