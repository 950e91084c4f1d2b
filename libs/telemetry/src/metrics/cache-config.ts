import { type BatonConfig, configForStage, kvLayoutOf } from '@baton/config';
import { NULL_BLOCKS } from '@baton/hardware';
import type { EnginePresence } from '@baton/contract';
import type { Labels } from './registry';

/**
 * vLLM's `cache_config_info` labels for an engine of a cluster with this configuration. If layers
 * have a sliding window, the size in tokens is that of sequences of `maxModelLen` tokens that fill
 * the cache (vLLM's `get_kv_cache_capacity`).
 */
export function cacheConfigLabels(
  config: BatonConfig,
  maxModelLen: number,
): (engine: EnginePresence) => Labels {
  return (engine) => {
    const own = configForStage(config, engine.stage);
    const gpuBlocks = engine.gauges.numBlocks + NULL_BLOCKS;
    const layout = kvLayoutOf(config, engine.stage);
    const concurrency = layout && gpuBlocks / layout.needed(maxModelLen);
    const cacheTokens =
      concurrency === undefined ? gpuBlocks * own.blockSize : Math.floor(concurrency * maxModelLen);
    return {
      block_size: String(own.blockSize),
      cache_dtype: 'auto',
      enable_prefix_caching: own.enablePrefixCaching ? 'True' : 'False',
      gpu_memory_utilization: String(own.gpuMemoryUtilization),
      kv_cache_max_concurrency: String(concurrency ?? cacheTokens / maxModelLen),
      kv_cache_size_tokens: String(cacheTokens),
      kv_offloading_size: own.kvOffloadingSize === 0 ? 'None' : String(own.kvOffloadingSize),
      num_gpu_blocks: String(gpuBlocks),
      num_gpu_blocks_override:
        own.numGpuBlocksOverride === undefined ? 'None' : String(own.numGpuBlocksOverride),
    };
  };
}
