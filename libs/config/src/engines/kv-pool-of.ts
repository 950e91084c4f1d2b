import type { EngineOptions } from '@baton/engine';
import { msToUs } from '@baton/kernel';
import type { Link } from '@baton/hardware';
import type { KvPoolTerms } from '@baton/kvcache';
import { type BatonConfig } from '../config';
import { UsageError } from '../usage-error';

/**
 * The part of the cluster's KV pool that an engine with this host memory provides. Undefined
 * without a pool.
 *
 * @throws UsageError, one sentence, for a pool without memory or without prefix caching
 */
export function kvPoolOf(
  config: BatonConfig,
  { hostTier }: Pick<EngineOptions, 'hostTier'>,
  link: Link,
): KvPoolTerms | undefined {
  if (config.kvPool === 'none') return undefined;
  if (hostTier === undefined) {
    throw new UsageError(
      'kv_pool global needs kv_offloading_size above 0: the pool is the memory of all engines.',
    );
  }
  if (!config.enablePrefixCaching) {
    throw new UsageError('kv_pool global needs enable_prefix_caching: it finds KV by prefix.');
  }
  const { kvPoolBandwidth, kvPoolLatency } = config;
  return {
    blocks: hostTier.blocks,
    bytesPerBlock: hostTier.bytesPerBlock,
    bytesPerSecond: kvPoolBandwidth === undefined ? link.bytesPerSecond : kvPoolBandwidth * 1e9,
    latencyUs: kvPoolLatency === undefined ? link.baseLatencyUs : msToUs(kvPoolLatency),
    balancingThreshold: config.kvPoolBalancingThreshold,
    replicas: config.kvPoolReplicas,
  };
}
