import { wallUsOf } from '@baton/clock';
import type { EndReason } from '@baton/contract';
import type { MeasuredRequest, RecordedOutcome, TraceRow } from '@baton/workload';
import type { End, ObservedRequest, ObservedSequence } from '../port/port';
import type { Gaps } from './gaps';
import type { OutsideDecision } from './outside-decision';

/** The largest priority that a line of our traces takes. */
const MOST_PRIORITY = 2 ** 31 - 1;

export interface RowContext {
  readonly request: ObservedRequest;
  readonly gaps: Gaps;
  /** The name of an engine, by its id. */
  readonly nameOf: (engineId: string) => string;
  /**
   * Replaces the measurements of this cluster. Undefined when no router in front makes the
   * decisions.
   */
  readonly outside: OutsideDecision | undefined;
  /** Undefined without configured classes. */
  readonly sloClass: string | undefined;
  /** Instant 0 of the recording, µs since the Unix epoch. */
  readonly startedUs: number;
  /** Simulated µs per µs of the wall clock. */
  readonly speedup: number;
  readonly blockSize: number;
}

/** The row of an ended sequence in a recording. */
export function recordedRow(sequence: ObservedSequence, end: End, context: RowContext): TraceRow {
  const { job, received } = sequence;
  const { request, outside, sloClass, startedUs, speedup, blockSize } = context;
  const fullBlocks = Math.floor((job.promptTokens + received) / blockSize);
  const priority = Math.max(-MOST_PRIORITY, Math.min(MOST_PRIORITY, job.priority));
  return {
    id: job.requestId,
    arrivalUs: Math.max(0, Math.round((job.arrivalUs - startedUs) * speedup)),
    promptTokens: job.promptTokens,
    outputTokens: received,
    maxTokens: job.maxTokens,
    session: request.sessionKey,
    priority: priority || undefined,
    sloClass,
    adapter: job.adapter,
    blockSize,
    blockHashes: job.blockHashes.slice(0, fullBlocks),
    measured: { ...measuredOf(sequence, end, context), ...(outside && unmeasured(outside)) },
  };
}

/** The times of this cluster say nothing about the engines of another one. */
function unmeasured(outside: OutsideDecision): Partial<MeasuredRequest> {
  return { ...outside, stamped: {}, seen: {}, gapsUs: [] };
}

function measuredOf(
  { job, received, cachedTokens, history }: ObservedSequence,
  { reason, error }: End,
  { request, gaps, nameOf, speedup }: RowContext,
): MeasuredRequest {
  const sinceArrival = (us: number | undefined): number | undefined =>
    us === undefined ? undefined : Math.max(0, Math.round((us - job.arrivalUs) * speedup));
  const seenAt = (processMs: number): number | undefined =>
    sinceArrival(processMs === 0 ? undefined : wallUsOf(processMs));
  return {
    outcome: outcomeOf(reason),
    finishReason: reason,
    error,
    endpoint: request.endpoint,
    arrivalWallUs: job.arrivalUs,
    flow: job.flow,
    prefillEngine: history.prefillEngine && nameOf(history.prefillEngine),
    decodeEngine: history.decodeEngine && nameOf(history.decodeEngine),
    tokens: received,
    cachedTokens,
    transferredTokens: history.transferredTokens,
    stamped: {
      scheduledUs: sinceArrival(history.scheduledUs),
      heldUs: sinceArrival(history.heldUs),
      decodeUs: sinceArrival(history.decodeUs),
      firstTokenUs: sinceArrival(history.stampedFirstUs),
      finishUs: sinceArrival(history.stampedLastUs),
    },
    seen: {
      firstTokenUs: seenAt(history.firstTokenMs),
      finishUs: seenAt(history.lastTokenMs),
    },
    gapsUs: gaps.list(),
  };
}

function outcomeOf(reason: EndReason): RecordedOutcome {
  if (reason === 'abort') return 'aborted';
  return reason === 'error' ? 'failed' : 'completed';
}
