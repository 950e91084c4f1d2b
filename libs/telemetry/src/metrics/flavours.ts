import type { BatonConfig } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import type { CacheConfigLabels } from './cache-config';

export type MetricsFlavour = BatonConfig['metricsFlavour'];

/** The load of an engine for routers, by the terms of the model server protocol. */
interface EngineLoad {
  readonly waiting: number;
  readonly running: number;
  /** 0 to 1. */
  readonly kvUsage: number;
  readonly blockSize: number;
  readonly blocks: number;
}

export interface FlavourFamily {
  readonly name: string;
  readonly help: string;
  readonly series: (load: EngineLoad) => readonly {
    readonly labels?: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/**
 * The names that the endpoint picker of the Gateway API inference extension reads of each server,
 * besides vLLM's: llm-d-router 0.10, `datalayer/extractor/metrics/factories.go`, and for SGLang the
 * gauges that took the place of its information in 0.5.11.
 */
export const FLAVOUR_FAMILIES: Readonly<Record<MetricsFlavour, readonly FlavourFamily[]>> = {
  vllm: [],
  sglang: [
    gauge('sglang:num_queue_reqs', 'The number of requests in the waiting queue.', 'waiting'),
    gauge('sglang:num_running_reqs', 'The number of running requests.', 'running'),
    gauge('sglang:token_usage', 'The token usage.', 'kvUsage'),
    {
      name: 'sglang:cache_config_info',
      help: 'Information of the cache config, until SGLang 0.5.10.',
      series: ({ blockSize, blocks }) => [
        { labels: { page_size: String(blockSize), num_pages: String(blocks) }, value: 1 },
      ],
    },
    gauge('sglang:page_size', 'Page size of the KV cache in tokens.', 'blockSize'),
    gauge('sglang:num_pages', 'Number of pages of the KV cache.', 'blocks'),
    {
      name: 'sglang:max_total_num_tokens',
      help: 'Maximum total number of tokens in the KV cache pool.',
      series: ({ blockSize, blocks }) => [{ value: blockSize * blocks }],
    },
  ],
  trtllm: [
    gauge('trtllm_num_requests_waiting', 'Number of queued requests.', 'waiting'),
    gauge('trtllm_num_requests_running', 'Number of active requests.', 'running'),
    gauge('trtllm_kv_cache_utilization', 'KV cache utilization.', 'kvUsage'),
    gauge('trtllm_kv_cache_tokens_per_block', 'Tokens per KV cache block.', 'blockSize'),
    gauge('trtllm_kv_cache_max_blocks', 'Maximum number of KV cache blocks.', 'blocks'),
    {
      name: 'nv_trt_llm_request_metrics',
      help: 'TRT LLM request metrics',
      series: ({ waiting, running }) => [
        { labels: { request_type: 'waiting' }, value: waiting },
        { labels: { request_type: 'scheduled' }, value: running },
      ],
    },
    {
      name: 'nv_trt_llm_kv_cache_block_metrics',
      help: 'TRT LLM KV cache block metrics',
      series: ({ kvUsage, blockSize, blocks }) => [
        { labels: { kv_cache_block_type: 'fraction' }, value: kvUsage },
        { labels: { kv_cache_block_type: 'tokens_per' }, value: blockSize },
        { labels: { kv_cache_block_type: 'max' }, value: blocks },
      ],
    },
  ],
};

export function engineLoadOf({ gauges }: EnginePresence, cache: CacheConfigLabels): EngineLoad {
  return {
    waiting: gauges.waitingCapacity + gauges.waitingDeferred,
    running: gauges.running,
    kvUsage: gauges.kvUsage,
    blockSize: Number(cache['block_size']),
    blocks: gauges.numBlocks,
  };
}

function gauge(name: string, help: string, of: keyof EngineLoad): FlavourFamily {
  return { name, help, series: (load) => [{ value: load[of] }] };
}
