import type { BatonConfig } from '@baton/config';
import type { Demand } from '../candidates/rate-match';
import type { WorkloadDescription } from '@baton/workload';

/**
 * A mean request. An engine finds only its share of the hits of an unlimited common cache: a prefix
 * was computed by one engine, and only some policies send the next request there.
 *
 * @param engines  that compute prompts
 */
export function meanDemand(
  { promptTokens, outputTokens, reusableShare }: WorkloadDescription,
  { enablePrefixCaching, placement }: Pick<BatonConfig, 'enablePrefixCaching' | 'placement'>,
  engines: number,
): Demand {
  const isFound = placement === 'prefix-aware' || placement === 'session-sticky';
  const share = enablePrefixCaching ? reusableShare / (isFound ? 1 : engines) : 0;
  return {
    promptTokens: promptTokens.mean,
    cachedTokens: promptTokens.mean * share,
    outputTokens: outputTokens.mean,
  };
}
