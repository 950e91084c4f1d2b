import type { BatchAggregates } from '../src/port/step-time-model';

/** Batches for tests. */
export const EMPTY: BatchAggregates = {
  prefillTokens: 0,
  prefillSeqs: 0,
  prefillQuadratic: 0,
  prefillContext: 0,
  decodeSeqs: 0,
  decodeContext: 0,
  kvUsage: 0,
};

/** Equal prompts of so many new tokens, each after `cached` others. */
export function prompts(count: number, tokens: number, cached = 0): BatchAggregates {
  return {
    ...EMPTY,
    prefillSeqs: count,
    prefillTokens: count * tokens,
    prefillContext: count * cached,
    prefillQuadratic: count * ((cached + tokens) ** 2 - cached ** 2),
  };
}

/** Sequences that decode, each with so much context. */
export function decoding(decodeSeqs: number, context: number): BatchAggregates {
  return { ...EMPTY, decodeSeqs, decodeContext: decodeSeqs * context };
}
