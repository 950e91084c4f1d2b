import type { RequestResult } from './port/ledger';

/** Limits that both adapters share. */

/** Time for which the record of a running request is kept after its last update. */
export const LIVE_RECORD_TTL_MS = 3_600_000;

/** Limit of an executing stage's prompt; vLLM's longest contexts fit. */
export const MAX_PROMPT_BYTES = 16 * 1024 * 1024;

/** Limit of a conversation; the longest contexts fit with room to spare. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

/** Limit of the first line of a document, which lists read. */
export const MAX_LINE_BYTES = 64 * 1024;

/** A claimed index becomes free when its engine has not announced itself within this time. */
export const CLAIM_TTL_MS = 15_000;

/** A request of which so many runs were lost with their process gets no further run. */
export const MAX_LOST_RUNS = 10;

/** Time to live of the tombstone of a request whose runs are used up. */
export const EXHAUSTED_RESULT: RequestResult = {
  reason: 'error',
  tokens: 0,
  errorCode: 'attempts_exhausted',
};
