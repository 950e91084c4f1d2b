import type { PlacerSpec, StagePolicySpec } from '@baton/placement';
import type { BatonConfig } from './config';

/** The placement of a configuration, for both clocks. */
export function placerSpec(config: BatonConfig): PlacerSpec {
  return {
    prefill: policySpec(config, config.placement),
    decode: policySpec(config, config.decodePlacement ?? config.placement),
    decodeChoice: config.decodeChoice,
    disaggregationThreshold: config.disaggregationThreshold,
  };
}

function policySpec(config: BatonConfig, kind: BatonConfig['placement']): StagePolicySpec {
  switch (kind) {
    case 'pull':
      return 'pull';
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
