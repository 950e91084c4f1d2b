import type { ContentNames } from './named/content-names';
import type { NamedColumn } from './named/named-column';

/**
 * The requests of a run as columns. Rows that wait for no other ascend by arrival. A row with
 * `after` comes after the row that it waits for; in generated conversations, directly after it. The
 * columns are plain numbers and typed arrays, so a workload can be posted to a worker thread; with
 * the columns of `shareWorkload` no byte is copied. It takes about 32 bytes per request plus 4 per
 * content id.
 */
export interface Workload {
  readonly count: number;
  /**
   * Instant of arrival, µs. For a row with `after`: the pause between the end of that request and
   * this arrival, µs.
   */
  readonly arrivalUs: Float64Array;
  /** >= 1. */
  readonly promptTokens: Int32Array;
  /** >= 1. */
  readonly outputTokens: Int32Array;
  /** The max_tokens of the client, 0 = unknown. Empty when no row has one. */
  readonly maxTokens: Int32Array;
  /**
   * The row that must end before this one arrives (the previous turn), -1 = none. Empty when no row
   * has one.
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
  /** Tenants of the rows; unset when no row has one. */
  readonly tenant?: NamedColumn | undefined;
  /** LoRA adapters of the rows; unset when all use the base model. */
  readonly adapter?: NamedColumn | undefined;
  /**
   * The contents of the blocks of a request. Row i has the ids `contentIds[contentStart[i]]` up to
   * `contentStart[i + 1]`, each for `contentBlockTokens` tokens, from the start of the prompt.
   * Equal ids mean equal content *and* equal content before it. An id of 0 and all blocks after
   * the list are private. Ids are dense: 1..contentCount. `contentStart` has count + 1 entries.
   */
  readonly contentStart: Float64Array;
  readonly contentIds: Int32Array;
  readonly contentBlockTokens: number;
  readonly contentCount: number;
  /** The names of the contents in the source. Unset where the source has the same numbers. */
  readonly contentNames?: ContentNames | undefined;
  /**
   * `prompt`: the ids cover only the prompt, and the last one may be a block that the prompt fills
   * in part (Mooncake). `sequence`: the ids continue over the output, and all are full blocks.
   * `withContentBlock` keeps only ids of full blocks.
   */
  readonly contentSpan: 'prompt' | 'sequence';
  /**
   * Request ids of a recording, for `requestIdOf`: UTF-16 units, row i from start[i] to start[i +
   * 1]. Both are empty when no row has one.
   */
  readonly requestIdStart: Float64Array;
  readonly requestIdUnits: Uint16Array;
}

/**
 * Maximum length in tokens. Greater lengths are refused as mistakes. The sum of prompt and output
 * fits 32 bits.
 */
export const MOST_TOKENS = 1_000_000_000;
/** Maximum number of content ids in all requests, and of different ids: the size of one column. */
export const MOST_CONTENTS = 2 ** 31 - 1;

/** A request of the user that a workload cannot satisfy. The message is one sentence. */
export class WorkloadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WorkloadError';
  }
}

/** The id of the request in the recorded run. Undefined when it has none. */
export function requestIdOf(workload: Workload, row: number): string | undefined {
  const from = workload.requestIdStart[row] ?? 0;
  const to = workload.requestIdStart[row + 1] ?? 0;
  if (from === to) return undefined;
  return String.fromCharCode(...workload.requestIdUnits.subarray(from, to));
}

/** True for a row with its own arrival, not after the end of another. */
export function isFirst(workload: Workload, row: number): boolean {
  return workload.after.length === 0 || workload.after[row] === -1;
}

/** Number of requests with their own arrival: all but the later turns of conversations. */
export function firstCount(workload: Workload): number {
  const { after, count } = workload;
  if (after.length === 0) return count;
  let firsts = 0;
  for (let row = 0; row < count; row++) if (after[row] === -1) firsts += 1;
  return firsts;
}

/**
 * Requests per second over the span from the first to the last arrival, without later turns. 0 when
 * that span is empty.
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
