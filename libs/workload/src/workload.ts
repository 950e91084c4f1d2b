import type { ContentNames } from './named/content-names';
import type { NamedColumn } from './named/named-column';

/**
 * The requests of a run as columns. Rows that wait for no other ascend by arrival; a row with
 * `after` stands behind the row it waits for, right behind it in generated conversations. Plain
 * numbers and typed arrays, so a workload can be posted to a worker thread; with the columns of
 * `shareWorkload` no byte is copied. About 32 bytes per request plus 4 per content id.
 */
export interface Workload {
  readonly count: number;
  /**
   * Instant of arrival. For a row with `after`, the pause between the end of that request and this
   * one's arrival.
   */
  readonly arrivalUs: Float64Array;
  /** >= 1. */
  readonly promptTokens: Int32Array;
  /** >= 1. */
  readonly outputTokens: Int32Array;
  /** What the client allowed (max_tokens), 0 = not known. Empty when no row has one. */
  readonly maxTokens: Int32Array;
  /**
   * Row that must have ended before this one arrives (the turn before), -1 = none. Empty when no
   * row has one.
   */
  readonly after: Int32Array;
  /**
   * Conversations and users: rows with the same key belong together, 0 = none. Empty when no row
   * has one.
   */
  readonly session: Float64Array;
  /** vLLM's priority, lower first. Empty when all are 0. */
  readonly priority: Int32Array;
  /** SLO classes; unset when no row has one. */
  readonly sloClass?: NamedColumn | undefined;
  /** Whose requests they are; unset when no row says so. */
  readonly tenant?: NamedColumn | undefined;
  /**
   * What the blocks of a request hold: row i has the ids `contentIds[contentStart[i]]` up to
   * `contentStart[i + 1]`, each for `contentBlockTokens` tokens, from the beginning of the prompt
   * on; equal ids = equal content *and* equal content before it. 0 and what lies behind the list is
   * private. Ids are dense: 1..contentCount. `contentStart` has count + 1 entries.
   */
  readonly contentStart: Float64Array;
  readonly contentIds: Int32Array;
  readonly contentBlockTokens: number;
  readonly contentCount: number;
  /** What the source calls them; unset where it has the same numbers. */
  readonly contentNames?: ContentNames | undefined;
  /**
   * `prompt`: the ids speak of the prompt alone, and the last one may stand for a block that the
   * prompt fills in part (Mooncake). `sequence`: they go on over the output, and all stand for full
   * blocks. `withContentBlock` leaves ids of full blocks only.
   */
  readonly contentSpan: 'prompt' | 'sequence';
  /**
   * Ids as a recording has them, read by `requestIdOf`: UTF-16 units, row i from start[i] to
   * start[i + 1]. Both empty when no row has one.
   */
  readonly requestIdStart: Float64Array;
  readonly requestIdUnits: Uint16Array;
}

/** A length beyond it is taken for a mistake: prompt and output together still fit 32 bits. */
export const MOST_TOKENS = 1_000_000_000;
/** Content ids of all requests together, and different ones: more would not fit one column. */
export const MOST_CONTENTS = 2 ** 31 - 1;

/** A wish that cannot be fulfilled with this workload; the message is one sentence for the user. */
export class WorkloadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WorkloadError';
  }
}

/** The id that the request had where it was recorded; undefined when it had none. */
export function requestIdOf(workload: Workload, row: number): string | undefined {
  const from = workload.requestIdStart[row] ?? 0;
  const to = workload.requestIdStart[row + 1] ?? 0;
  if (from === to) return undefined;
  return String.fromCharCode(...workload.requestIdUnits.subarray(from, to));
}

/** Whether the row arrives by itself, not some time after another has ended. */
export function isFirst(workload: Workload, row: number): boolean {
  return workload.after.length === 0 || workload.after[row] === -1;
}

/** Requests that arrive by themselves: all but the later turns of conversations. */
export function firstCount(workload: Workload): number {
  const { after, count } = workload;
  if (after.length === 0) return count;
  let firsts = 0;
  for (let row = 0; row < count; row++) if (after[row] === -1) firsts += 1;
  return firsts;
}

/**
 * Mean rate over the span from the first to the last arrival, later turns left out; 0 when that
 * span is empty.
 */
export function meanRatePerSecond(workload: Workload): number {
  let firsts = 0;
  let beginUs = 0;
  let endUs = 0;
  for (let row = 0; row < workload.count; row++) {
    if (!isFirst(workload, row)) continue;
    endUs = workload.arrivalUs[row]!;
    if (firsts === 0) beginUs = endUs;
    firsts += 1;
  }
  return endUs > beginUs ? ((firsts - 1) * 1e6) / (endUs - beginUs) : 0;
}
