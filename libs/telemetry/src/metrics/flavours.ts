import { type BatonConfig, configForStage } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { type EngineFamily, type EngineMetricsSource, gauge, gaugeBy, info } from './engine-family';

const waiting = ({ gauges }: EnginePresence): number =>
  gauges.waitingCapacity + gauges.waitingDeferred;
const running = ({ gauges }: EnginePresence): number => gauges.running;
const kvUsage = ({ gauges }: EnginePresence): number => gauges.kvUsage;
const blocks = ({ gauges }: EnginePresence): number => gauges.numBlocks;
const blockSize = ({ stage }: EnginePresence, { config }: EngineMetricsSource): number =>
  configForStage(config, stage).blockSize;

/**
 * The names that the endpoint picker of the Gateway API inference extension reads of each server,
 * besides vLLM's: llm-d-router 0.10, `datalayer/extractor/metrics/factories.go`, and for SGLang the
 * gauges that took the place of its information in 0.5.11.
 */
export const FLAVOUR_FAMILIES: Readonly<
  Record<BatonConfig['metricsFlavour'], readonly EngineFamily[]>
> = {
  vllm: [],
  sglang: [
    gauge('sglang:num_queue_reqs', 'The number of requests in the waiting queue.', waiting),
    gauge('sglang:num_running_reqs', 'The number of running requests.', running),
    gauge('sglang:token_usage', 'The token usage.', kvUsage),
    info(
      'sglang:cache_config_info',
      'Information of the cache config, until SGLang 0.5.10.',
      (engine, source) => ({
        page_size: String(blockSize(engine, source)),
        num_pages: String(blocks(engine)),
      }),
    ),
    gauge('sglang:page_size', 'Page size of the KV cache in tokens.', blockSize),
    gauge('sglang:num_pages', 'Number of pages of the KV cache.', blocks),
    gauge(
      'sglang:max_total_num_tokens',
      'Maximum total number of tokens in the KV cache pool.',
      (engine, source) => blockSize(engine, source) * blocks(engine),
    ),
  ],
  trtllm: [
    gauge('trtllm_num_requests_waiting', 'Number of queued requests.', waiting),
    gauge('trtllm_num_requests_running', 'Number of active requests.', running),
    gauge('trtllm_kv_cache_utilization', 'KV cache utilization.', kvUsage),
    gauge('trtllm_kv_cache_tokens_per_block', 'Tokens per KV cache block.', blockSize),
    gauge('trtllm_kv_cache_max_blocks', 'Maximum number of KV cache blocks.', blocks),
    gaugeBy(
      { name: 'nv_trt_llm_request_metrics', help: 'TRT LLM request metrics' },
      'request_type',
      { waiting, scheduled: running },
    ),
    gaugeBy(
      { name: 'nv_trt_llm_kv_cache_block_metrics', help: 'TRT LLM KV cache block metrics' },
      'kv_cache_block_type',
      { fraction: kvUsage, tokens_per: blockSize, max: blocks },
    ),
  ],
};
