import type { PlacerSpec, PolicySpec, StagePolicySpec } from '@baton/placement';
import type { BatonConfig } from './config';
import { isModulePath } from './option';
import { ownPolicy } from './own-policy-file';

/**
 * The placement of a configuration, for both clocks.
 *
 * @throws UsageError when a policy of the user's own cannot be loaded
 */
export function placerSpec(config: BatonConfig): PlacerSpec {
  return {
    prefill: stageSpec(config, config.placement),
    decode: stageSpec(config, config.decodePlacement ?? config.placement),
    decodeChoice: config.decodeChoice,
    disaggregationThreshold: config.disaggregationThreshold,
    fallback: policySpec(config, config.placementFallback),
  };
}

function stageSpec(config: BatonConfig, named: BatonConfig['placement']): StagePolicySpec {
  if (named === 'pull') return named;
  return isModulePath(named) ? ownPolicy(named) : policySpec(config, named);
}

function policySpec(config: BatonConfig, kind: BatonConfig['placementFallback']): PolicySpec {
  switch (kind) {
    case 'prefix-aware':
      return {
        kind,
        balanceThreshold: config.prefixBalanceThreshold,
        overlapWeight: config.prefixOverlapWeight,
      };
    case 'session-sticky':
      return {
        kind,
        virtualNodes: config.stickyVirtualNodes,
        loadFactor: config.stickyLoadFactor,
      };
    default:
      return { kind };
  }
}
