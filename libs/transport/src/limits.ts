import type { RequestResult } from './port/ledger';

/** What both adapters bound alike. */

/**
 * A record of a request that runs is kept this long after the last word about it, so that nothing
 * leaks for ever.
 */
export const LIVE_RECORD_TTL_MS = 3_600_000;

/** An executing stage's prompt: vLLM's longest contexts fit, a whole memory does not. */
export const MAX_PROMPT_BYTES = 16 * 1024 * 1024;

/** A conversation as long as the longest contexts, with room to spare. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

/** An index that was claimed is free again when its engine has not announced itself by then. */
export const CLAIM_TTL_MS = 15_000;

/** The tombstone of a request whose runs are used up. */
export const EXHAUSTED_RESULT: RequestResult = {
  reason: 'error',
  tokens: 0,
  errorCode: 'attempts_exhausted',
};
