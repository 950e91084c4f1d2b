import type { Micros } from '@baton/kernel';

/** Two sources of a prompt's KV: the engine's own prefix, or a longer one from the pool. */
export interface FetchChoice {
  /** Leading tokens that the engine has: on its GPUs, or in the memory of its own node. */
  readonly ownTokens: number;
  /** Leading tokens that it has after a fetch, above `ownTokens`. */
  readonly poolTokens: number;
  /** Time of that fetch, waiting for links included. */
  readonly transferUs: Micros;
  /** Time to compute the rest of the prompt after this many tokens. */
  readonly computeUs: (cachedTokens: number) => Micros;
}

/**
 * Whether an engine fetches the longer prefix of another node, after Mooncake's Conductor (FAST'25,
 * algorithm 1). While `poolTokens / ownTokens` is below the threshold
 * (`kvcache_balancing_threshold`) it computes with its own prefix. From the threshold on it takes
 * the cheaper of `T_prefill(len, own prefix)` and `T_transfer + T_prefill(len, best prefix)`. The
 * queue of the engine is the same in both.
 */
export function fetchPays(choice: FetchChoice, balancingThreshold: number): boolean {
  const { ownTokens, poolTokens, transferUs, computeUs } = choice;
  if (poolTokens < ownTokens * balancingThreshold) return false;
  return transferUs + computeUs(poolTokens) < computeUs(ownTokens);
}
