import { type BatonConfig, configForStage } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import type { CacheConfigLabels } from './engine-metrics';

/** vLLM's `cache_config_info` labels for an engine of a cluster with this configuration. */
export function cacheConfigLabels(
  config: BatonConfig,
  maxModelLen: number,
): (engine: EnginePresence) => CacheConfigLabels {
  return (engine) => {
    const own = configForStage(config, engine.stage);
    const cacheTokens = engine.gauges.numBlocks * own.blockSize;
    return {
      block_size: String(own.blockSize),
      cache_dtype: 'auto',
      enable_prefix_caching: own.enablePrefixCaching ? 'True' : 'False',
      gpu_memory_utilization: String(own.gpuMemoryUtilization),
      kv_cache_max_concurrency: String(cacheTokens / maxModelLen),
      kv_cache_size_tokens: String(cacheTokens),
      num_gpu_blocks: String(engine.gauges.numBlocks),
      num_gpu_blocks_override:
        own.numGpuBlocksOverride === undefined ? 'None' : String(own.numGpuBlocksOverride),
    };
  };
}
