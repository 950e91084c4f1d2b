import type { EndReason, ErrorCode } from '@baton/contract';
import type { Measured, RecordedOutcome, TraceRow } from '@baton/workload';
import type { Sequence } from '../../frames/sequence';
import type { Observation } from './observation';

/** The priorities that our trace lines take. */
const MOST_PRIORITY = 2 ** 31 - 1;

export interface RowContext {
  /** Instant 0 of the recording, µs since the Unix epoch. */
  readonly startedUs: number;
  /** Simulated µs per µs of the wall clock. */
  readonly speedup: number;
  readonly blockSize: number;
}

/** How a sequence ended. */
export interface End {
  readonly reason: EndReason;
  /** Of one that failed. */
  readonly error?: ErrorCode | undefined;
}

/** What a sequence leaves in a recording once it has ended. */
export function recordedRow(
  sequence: Sequence,
  seen: Observation,
  end: End & { readonly context: RowContext },
): TraceRow {
  const { job, received } = sequence;
  const { startedUs, speedup, blockSize } = end.context;
  const fullBlocks = Math.floor((job.promptTokens + received) / blockSize);
  const priority = Math.max(-MOST_PRIORITY, Math.min(MOST_PRIORITY, job.priority));
  return {
    id: job.requestId,
    arrivalUs: Math.max(0, Math.round((job.arrivalUs - startedUs) * speedup)),
    promptTokens: job.promptTokens,
    outputTokens: received,
    maxTokens: job.maxTokens,
    session: seen.sessionKey,
    priority: priority || undefined,
    blockSize,
    blockHashes: job.blockHashes.slice(0, fullBlocks),
    measured: measuredOf(sequence, seen, { ...end, speedup }),
  };
}

function measuredOf(
  { job, received, cachedTokens }: Sequence,
  seen: Observation,
  { reason, error, speedup }: End & { readonly speedup: number },
): Measured {
  const sinceArrival = (us: number | undefined): number | undefined =>
    us === undefined ? undefined : Math.max(0, Math.round((us - job.arrivalUs) * speedup));
  return {
    outcome: outcomeOf(reason),
    finishReason: reason,
    error,
    endpoint: seen.endpoint,
    arrivalWallUs: job.arrivalUs,
    flow: job.flow,
    prefillEngine: seen.prefillEngine,
    decodeEngine: seen.decodeEngine,
    tokens: received,
    cachedTokens,
    transferredTokens: seen.transferredTokens,
    stamped: {
      scheduledUs: sinceArrival(seen.scheduledUs),
      heldUs: sinceArrival(seen.heldUs),
      decodeUs: sinceArrival(seen.decodeUs),
      firstTokenUs: sinceArrival(seen.stampedFirstUs),
      finishUs: sinceArrival(seen.stampedLastUs),
    },
    seen: {
      firstTokenUs: sinceArrival(seen.seenFirstUs),
      finishUs: sinceArrival(seen.seenLastUs),
    },
    gapsUs: [...seen.gaps],
  };
}

function outcomeOf(reason: EndReason): RecordedOutcome {
  if (reason === 'abort') return 'aborted';
  return reason === 'error' ? 'failed' : 'completed';
}
