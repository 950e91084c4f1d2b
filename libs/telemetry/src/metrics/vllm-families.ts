import { DRAFT_TOKENS_MAX } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import {
  ITERATION_TOKENS,
  REQUEST_TOKENS,
  TRANSFER_BYTES,
  TRANSFER_DESCRIPTORS,
  TRANSFER_SECONDS,
} from './buckets';
import {
  acceptedAt,
  counter,
  gauge,
  histogram,
  type MetricFamily,
  optionalCounter,
} from './metric-family';

function isAsleepAt({ gauges }: EnginePresence, level: number): number {
  return (gauges.sleepLevel ?? 0) === level ? 1 : 0;
}

/**
 * The metrics of an engine in vLLM, by the names and HELP texts of vllm/v1/metrics/loggers.py and
 * of its NIXL connector.
 */
export const VLLM_FAMILIES: readonly MetricFamily[] = [
  gauge(
    'vllm:num_requests_running',
    'Number of requests in model execution batches.',
    (engine) => engine.gauges.running,
  ),
  gauge(
    'vllm:num_requests_waiting',
    'Number of requests waiting to be processed.',
    (engine) => engine.gauges.waitingCapacity + engine.gauges.waitingDeferred,
  ),
  {
    kind: 'gauge',
    name: 'vllm:num_requests_waiting_by_reason',
    help:
      "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for " +
      "scheduling capacity; 'deferred' = deferred by transient constraints (LoRA budget, KV " +
      'transfer, blocked status). Sum of all reasons equals vllm:num_requests_waiting.',
    series: [
      { labels: { reason: 'capacity' }, value: (engine) => engine.gauges.waitingCapacity },
      { labels: { reason: 'deferred' }, value: (engine) => engine.gauges.waitingDeferred },
    ],
  },
  {
    kind: 'gauge',
    name: 'vllm:engine_sleep_state',
    help:
      'Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is ' +
      'awake; weights_offloaded = 1 means sleep level 1; discard_all = 1 means sleep level 2.',
    series: [
      { labels: { sleep_state: 'awake' }, value: (engine) => isAsleepAt(engine, 0) },
      { labels: { sleep_state: 'weights_offloaded' }, value: (engine) => isAsleepAt(engine, 1) },
      { labels: { sleep_state: 'discard_all' }, value: (engine) => isAsleepAt(engine, 2) },
    ],
  },
  gauge(
    'vllm:kv_cache_usage_perc',
    'KV-cache usage. 1 means 100 percent usage.',
    (engine) => engine.gauges.kvUsage,
  ),
  counter(
    'vllm:prefix_cache_queries_total',
    'Prefix cache queries, in terms of number of queried tokens.',
    'prefix_cache_queries',
  ),
  counter(
    'vllm:prefix_cache_hits_total',
    'Prefix cache hits, in terms of number of cached tokens.',
    'prefix_cache_hits',
  ),
  counter(
    'vllm:external_prefix_cache_queries_total',
    'External prefix cache queries from KV connector cross-instance cache sharing, in terms ' +
      'of number of queried tokens.',
    'external_prefix_cache_queries',
  ),
  counter(
    'vllm:external_prefix_cache_hits_total',
    'External prefix cache hits from KV connector cross-instance cache sharing, in terms of ' +
      'number of cached tokens.',
    'external_prefix_cache_hits',
  ),
  counter(
    'vllm:num_preemptions_total',
    'Cumulative number of preemption from the engine.',
    'num_preemptions',
  ),
  counter('vllm:prompt_tokens_total', 'Number of prefill tokens processed.', 'prompt_tokens'),
  {
    kind: 'counter',
    name: 'vllm:prompt_tokens_by_source_total',
    help: 'Number of prompt tokens by source.',
    series: [
      { labels: { source: 'local_compute' }, key: 'prompt_tokens_local_compute' },
      { labels: { source: 'local_cache_hit' }, key: 'prompt_tokens_local_cache_hit' },
      { labels: { source: 'external_kv_transfer' }, key: 'prompt_tokens_external_kv_transfer' },
    ],
  },
  counter(
    'vllm:prompt_tokens_cached_total',
    'Number of cached prompt tokens (local + external).',
    'prompt_tokens_cached',
  ),
  counter(
    'vllm:prompt_tokens_recomputed_total',
    'Number of cached tokens recomputed for forward pass.',
    'prompt_tokens_recomputed',
  ),
  counter(
    'vllm:generation_tokens_total',
    'Number of generation tokens processed.',
    'generation_tokens',
  ),
  optionalCounter(
    'vllm:spec_decode_num_drafts_total',
    'Number of spec decoding drafts.',
    'spec_decode_num_drafts',
  ),
  optionalCounter(
    'vllm:spec_decode_num_draft_tokens_total',
    'Number of draft tokens.',
    'spec_decode_num_draft_tokens',
  ),
  optionalCounter(
    'vllm:spec_decode_num_accepted_tokens_total',
    'Number of accepted tokens.',
    'spec_decode_num_accepted_tokens',
  ),
  {
    kind: 'counter',
    name: 'vllm:spec_decode_num_accepted_tokens_per_pos_total',
    help: 'Accepted tokens per draft position.',
    series: Array.from({ length: DRAFT_TOKENS_MAX }, (_, position) => ({
      labels: { position: String(position) },
      key: acceptedAt(position),
    })),
    isOptional: true,
  },
  histogram('vllm:iteration_tokens_total', 'Histogram of number of tokens per engine_step.', {
    key: 'iteration_tokens_total',
    buckets: ITERATION_TOKENS,
  }),
  histogram(
    'vllm:request_prefill_kv_computed_tokens',
    'Histogram of new KV tokens computed during prefill (excluding cached tokens).',
    {
      key: 'request_prefill_kv_computed_tokens',
      buckets: REQUEST_TOKENS,
      endsAtModelLength: true,
    },
  ),
  histogram(
    'vllm:nixl_xfer_time_seconds',
    'Histogram of transfer duration for NIXL KV Cache transfers.',
    {
      key: 'nixl_xfer_time_seconds',
      buckets: TRANSFER_SECONDS,
    },
  ),
  histogram(
    'vllm:nixl_post_time_seconds',
    'Histogram of transfer post time for NIXL KV Cache transfers.',
    {
      key: 'nixl_post_time_seconds',
      buckets: [0.001, ...TRANSFER_SECONDS],
    },
  ),
  histogram(
    'vllm:nixl_bytes_transferred',
    'Histogram of bytes transferred per NIXL KV Cache transfers.',
    { key: 'nixl_bytes_transferred', buckets: TRANSFER_BYTES },
  ),
  histogram(
    'vllm:nixl_num_descriptors',
    // Two spaces, as vLLM has them.
    'Histogram of number of descriptors per NIXL  KV Cache transfers.',
    { key: 'nixl_num_descriptors', buckets: TRANSFER_DESCRIPTORS },
  ),
  counter(
    'vllm:nixl_num_failed_transfers_total',
    'Number of failed NIXL KV Cache transfers.',
    'nixl_num_failed_transfers',
  ),
  counter(
    'vllm:nixl_num_failed_notifications_total',
    'Number of failed NIXL KV Cache notifications.',
    'nixl_num_failed_notifications',
  ),
  counter(
    'vllm:nixl_num_kv_expired_reqs_total',
    'Number of requests that had their KV expire. NOTE: This metric is tracked on the P instance.',
    'nixl_num_kv_expired_reqs',
  ),
  counter(
    'vllm:nixl_num_notifications_after_expiry_total',
    'Number of NIXL notifications that came after the KV of their request had expired.',
    'nixl_num_notifications_after_expiry',
  ),
  optionalCounter(
    'vllm:kv_offload_load_bytes_total',
    'Total bytes loaded from offload storage to GPU.',
    'kv_offload_load_bytes',
  ),
  optionalCounter(
    'vllm:kv_offload_load_time_total',
    'Total load time from offload storage to GPU, in seconds.',
    'kv_offload_load_seconds',
  ),
];
