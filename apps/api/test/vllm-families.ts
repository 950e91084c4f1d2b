/**
 * The families that vLLM serves, as the reference lists them: scrapers, rules and dashboards may
 * rely on them.
 */
export interface ReferenceFamily {
  /** Without `vllm:`, with `_total` where it is a counter. */
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  /** Besides `engine` and `model_name`. */
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  /** Upper bounds as they are written, without +Inf. */
  readonly le?: readonly string[];
}

const TTFT = (
  '0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 ' +
  '80.0 160.0 640.0 2560.0'
).split(' ');
const TOKEN =
  '0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0'.split(
    ' ',
  );
const REQUEST = (
  '0.3 0.5 0.8 1.0 1.5 2.0 2.5 5.0 10.0 15.0 20.0 30.0 40.0 50.0 60.0 120.0 240.0 480.0 ' +
  '960.0 1920.0 7680.0'
).split(' ');
const TRANSFER = '0.005 0.01 0.025 0.05 0.075 0.1 0.2 0.3 0.5 0.75 1.0 5.0'.split(' ');
/** Up to a model length of 131,072. */
const TOKENS = (
  '1.0 2.0 5.0 10.0 20.0 50.0 100.0 200.0 500.0 1000.0 2000.0 5000.0 10000.0 20000.0 ' +
  '50000.0 100000.0'
).split(' ');
const STEP = '1.0 8.0 16.0 32.0 64.0 128.0 256.0 512.0 1024.0 2048.0 4096.0 8192.0 16384.0'.split(
  ' ',
);
const BYTES = (
  '2048.0 8192.0 32768.0 131072.0 524288.0 2.097152e+06 8.388608e+06 3.3554432e+07 ' +
  '1.34217728e+08 5.36870912e+08 2.147483648e+09 8.589934592e+09'
).split(' ');
const DESCRIPTORS =
  '10.0 20.0 30.0 50.0 75.0 100.0 200.0 400.0 1000.0 2000.0 4000.0 10000.0 20000.0 50000.0'.split(
    ' ',
  );

const gauge = (name: string, help: string, labels?: ReferenceFamily['labels']): ReferenceFamily =>
  labels === undefined ? { name, help, type: 'gauge' } : { name, help, type: 'gauge', labels };

const counter = (
  name: string,
  help: string,
  labels?: ReferenceFamily['labels'],
): ReferenceFamily =>
  labels === undefined
    ? { name: `${name}_total`, help, type: 'counter' }
    : { name: `${name}_total`, help, type: 'counter', labels };

const histogram = (name: string, help: string, le: readonly string[]): ReferenceFamily => ({
  name,
  help,
  le,
  type: 'histogram',
});

const phase = (name: string, phaseName: string): ReferenceFamily =>
  histogram(
    `request_${name}_time_seconds`,
    `Histogram of time spent in ${phaseName} phase for request.`,
    REQUEST,
  );

/** vllm/v1/metrics/loggers.py and the NIXL connector's stats.py. */
export const FILLED: readonly ReferenceFamily[] = [
  gauge('num_requests_running', 'Number of requests in model execution batches.'),
  gauge('num_requests_waiting', 'Number of requests waiting to be processed.'),
  gauge(
    'num_requests_waiting_by_reason',
    "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for " +
      "scheduling capacity; 'deferred' = deferred by transient constraints (LoRA budget, KV " +
      'transfer, blocked status). Sum of all reasons equals vllm:num_requests_waiting.',
    { reason: ['capacity', 'deferred'] },
  ),
  gauge(
    'engine_sleep_state',
    'Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is ' +
      'awake; weights_offloaded = 1 means sleep level 1; discard_all = 1 means sleep level 2.',
    { sleep_state: ['awake', 'weights_offloaded', 'discard_all'] },
  ),
  gauge('kv_cache_usage_perc', 'KV-cache usage. 1 means 100 percent usage.'),
  counter('prefix_cache_queries', 'Prefix cache queries, in terms of number of queried tokens.'),
  counter('prefix_cache_hits', 'Prefix cache hits, in terms of number of cached tokens.'),
  counter(
    'external_prefix_cache_queries',
    'External prefix cache queries from KV connector cross-instance cache sharing, in terms ' +
      'of number of queried tokens.',
  ),
  counter(
    'external_prefix_cache_hits',
    'External prefix cache hits from KV connector cross-instance cache sharing, in terms of ' +
      'number of cached tokens.',
  ),
  counter('num_preemptions', 'Cumulative number of preemption from the engine.'),
  counter('prompt_tokens', 'Number of prefill tokens processed.'),
  counter('prompt_tokens_by_source', 'Number of prompt tokens by source.', {
    source: ['local_compute', 'local_cache_hit', 'external_kv_transfer'],
  }),
  counter('prompt_tokens_cached', 'Number of cached prompt tokens (local + external).'),
  counter('generation_tokens', 'Number of generation tokens processed.'),
  counter('request_success', 'Count of successfully processed requests.', {
    finished_reason: ['stop', 'length', 'abort', 'error', 'repetition', 'cache_threshold'],
  }),
  histogram('request_prompt_tokens', 'Number of prefill tokens processed.', TOKENS),
  histogram('request_generation_tokens', 'Number of generation tokens processed.', TOKENS),
  histogram(
    'request_max_num_generation_tokens',
    'Histogram of maximum number of requested generation tokens.',
    TOKENS,
  ),
  histogram('request_params_max_tokens', 'Histogram of the max_tokens request parameter.', TOKENS),
  histogram(
    'request_prefill_kv_computed_tokens',
    'Histogram of new KV tokens computed during prefill (excluding cached tokens).',
    TOKENS,
  ),
  histogram(
    'request_num_preemptions',
    'Histogram of the number of times a request was preempted.',
    '1.0 2.0 3.0 4.0 5.0 10.0 20.0'.split(' '),
  ),
  histogram('iteration_tokens_total', 'Histogram of number of tokens per engine_step.', STEP),
  histogram(
    'request_params_n',
    'Histogram of the n request parameter.',
    '1.0 2.0 5.0 10.0 20.0'.split(' '),
  ),
  histogram('time_to_first_token_seconds', 'Histogram of time to first token in seconds.', TTFT),
  histogram('inter_token_latency_seconds', 'Histogram of inter-token latency in seconds.', TOKEN),
  histogram(
    'request_time_per_output_token_seconds',
    'Histogram of time_per_output_token_seconds per request.',
    TOKEN,
  ),
  histogram('e2e_request_latency_seconds', 'Histogram of e2e request latency in seconds.', REQUEST),
  phase('queue', 'WAITING'),
  phase('inference', 'RUNNING'),
  phase('prefill', 'PREFILL'),
  phase('decode', 'DECODE'),
  histogram(
    'nixl_xfer_time_seconds',
    'Histogram of transfer duration for NIXL KV Cache transfers.',
    TRANSFER,
  ),
  histogram(
    'nixl_post_time_seconds',
    'Histogram of transfer post time for NIXL KV Cache transfers.',
    ['0.001', ...TRANSFER],
  ),
  histogram(
    'nixl_bytes_transferred',
    'Histogram of bytes transferred per NIXL KV Cache transfers.',
    BYTES,
  ),
  histogram(
    'nixl_num_descriptors',
    'Histogram of number of descriptors per NIXL  KV Cache transfers.',
    DESCRIPTORS,
  ),
  counter('nixl_num_failed_transfers', 'Number of failed NIXL KV Cache transfers.'),
  counter('nixl_num_failed_notifications', 'Number of failed NIXL KV Cache notifications.'),
  counter(
    'nixl_num_kv_expired_reqs',
    'Number of requests that had their KV expire. NOTE: This metric is tracked on the P instance.',
  ),
  // The name is from vLLM's stats (test_multi_connector.py); the help text is Baton's.
  counter(
    'nixl_num_notifications_after_expiry',
    'Number of NIXL notifications that came after the KV of their request had expired.',
  ),
];

/** Filled when an engine has the counted feature: draft tokens, host memory behind its KV cache. */
export const OPTIONAL: readonly ReferenceFamily[] = [
  counter('spec_decode_num_drafts', 'Number of spec decoding drafts.'),
  counter('spec_decode_num_draft_tokens', 'Number of draft tokens.'),
  counter('spec_decode_num_accepted_tokens', 'Number of accepted tokens.'),
  counter('spec_decode_num_accepted_tokens_per_pos', 'Accepted tokens per draft position.', {
    position: ['0', '1'],
  }),
  counter('kv_offload_load_bytes', 'Total bytes loaded from offload storage to GPU.'),
  counter('kv_offload_load_time', 'Total load time from offload storage to GPU, in seconds.'),
];

/** Filled since vLLM 0.32, at every engine. `num_requests_kv_fetch_by_stage` is one of decode. */
export const SINCE_32: readonly ReferenceFamily[] = [
  counter(
    'prompt_tokens_cached_by_source',
    'Prefix-cache hit tokens by the cache tier that supplied them: device (local HBM), host ' +
      '(offloaded to DRAM), disk, p2p (transferred from another vLLM instance) or ' +
      'external_unspecified. Counted at admission; sums to vllm:prefix_cache_hits + ' +
      'vllm:external_prefix_cache_hits.',
    { source: ['device', 'host', 'p2p', 'disk', 'external_unspecified'] },
  ),
];

/**
 * The rest of the reference; docs/metrics.md says why each has no numbers here. `*`: all families
 * with this prefix.
 */
export const UNFILLED: readonly string[] = [
  ...['corrupted_requests', 'mm_cache_queries', 'mm_cache_hits'],
  ...['kv_block_lifetime_seconds', 'kv_block_idle_before_evict_seconds'],
  ...['kv_block_reuse_gap_seconds', 'estimated_*', 'mooncake_store_*', 'hf3fs_*'],
  ...['kv_offload_store_*', 'kv_offload_load_size', 'kv_offload_lookup_*'],
  ...['kv_offload_allocation_failure', 'kv_offload_total_*', 'kv_offload_size'],
  ...['kv_offload_stores_skipped', 'kv_offload_cpu_*', 'kv_offload_tiering_*', 'diffusion_*'],
  ...['tool_call_parser_invocations', 'websocket_*', 'watermark_requests'],
];

/** Names that vLLM has removed: a reader of these must see that they are gone. */
export const GONE: readonly string[] = [
  ...['gpu_cache_usage_perc', 'gpu_prefix_cache_queries_total', 'gpu_prefix_cache_hits_total'],
  ...['time_per_output_token_seconds', 'num_requests_swapped', 'cpu_cache_usage_perc'],
  'prompt_tokens_recomputed_total',
];
