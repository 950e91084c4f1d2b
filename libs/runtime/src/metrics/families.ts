import type { EnginePresence } from '@baton/contract';
import { DRAFT_TOKENS_MAX } from '../config/tables/engine';

/** Labels of one series besides `model_name` and `engine`. */
export type SeriesLabels = Readonly<Record<string, string>>;

interface FamilyHead {
  /** Full name, as scraped. */
  readonly name: string;
  readonly help: string;
}

export interface GaugeFamily extends FamilyHead {
  readonly kind: 'gauge';
  readonly series: readonly {
    readonly labels: SeriesLabels;
    readonly value: (engine: EnginePresence) => number;
  }[];
}

/** `key` names the number in `EnginePresence.counters`. */
export interface CounterFamily extends FamilyHead {
  readonly kind: 'counter';
  readonly series: readonly {
    readonly labels: SeriesLabels;
    readonly key: CounterKey | SpeculationKey;
  }[];
  /** Only engines that count it have the series; else one that does not has 0. */
  readonly isOptional?: true;
}

/** `key` names the snapshot in `EnginePresence.histograms`. */
export interface HistogramFamily extends FamilyHead {
  readonly kind: 'histogram';
  readonly key: HistogramKey;
  readonly buckets: readonly number[];
}

export type MetricFamily = GaugeFamily | CounterFamily | HistogramFamily;

export const COUNTER_KEYS = [
  'prefix_cache_queries',
  'prefix_cache_hits',
  'external_prefix_cache_queries',
  'external_prefix_cache_hits',
  'num_preemptions',
  'prompt_tokens',
  'prompt_tokens_local_compute',
  'prompt_tokens_local_cache_hit',
  'prompt_tokens_external_kv_transfer',
  'prompt_tokens_cached',
  'generation_tokens',
  'nixl_num_failed_transfers',
  'nixl_num_failed_notifications',
  'nixl_num_kv_expired_reqs',
  'steps',
  'runs_started',
  'placed_jobs',
  'runs_aborted',
  'runs_failed',
  'locks_lost',
  'clock_reanchors',
] as const;

export type CounterKey = (typeof COUNTER_KEYS)[number];

/** Counted by engines that draft tokens. */
export type SpeculationKey =
  | 'spec_decode_num_drafts'
  | 'spec_decode_num_draft_tokens'
  | 'spec_decode_num_accepted_tokens'
  | `spec_decode_num_accepted_tokens_per_pos_${number}`;

export function acceptedAt(position: number): SpeculationKey {
  return `spec_decode_num_accepted_tokens_per_pos_${position}`;
}

export const HISTOGRAM_KEYS = [
  'iteration_tokens_total',
  'request_prefill_kv_computed_tokens',
  'nixl_xfer_time_seconds',
  'nixl_post_time_seconds',
  'nixl_bytes_transferred',
  'job_delivery_seconds',
  'step_lag_seconds',
  'intended_time_per_output_token_seconds',
] as const;

export type HistogramKey = (typeof HISTOGRAM_KEYS)[number];

const NO_LABELS: SeriesLabels = {};

/** Powers of two up to vLLM's largest token budget (vllm/v1/metrics/loggers.py). */
const ITERATION_TOKENS = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/** vllm/distributed/kv_transfer/kv_connector/v1/nixl/stats.py. */
const TRANSFER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 5];
const TRANSFER_BYTES = Array.from({ length: 12 }, (_, i) => 2 ** (11 + 2 * i));
/** Ours: from a tenth of a millisecond, below which nothing crosses a process, to a second. */
const OVERHEAD_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25,
  0.5, 1,
];
/** vLLM's request_time_per_output_token_seconds, with finer steps below for fast decode engines. */
const TOKEN_SECONDS = [
  0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4,
  0.5, 0.75, 1, 2.5, 5,
];
/** vLLM bounds its 1-2-5 series by max_model_len; one series for all models keeps cluster sums possible. */
const REQUEST_TOKENS = oneTwoFive(1_000_000);

function oneTwoFive(limit: number): number[] {
  const series: number[] = [];
  for (let decade = 1; decade <= limit; decade *= 10) {
    for (const digit of [1, 2, 5]) if (digit * decade <= limit) series.push(digit * decade);
  }
  return series;
}

function gauge(name: string, help: string, value: (engine: EnginePresence) => number): GaugeFamily {
  return { kind: 'gauge', name, help, series: [{ labels: NO_LABELS, value }] };
}

function counter(name: string, help: string, key: CounterKey): CounterFamily {
  return { kind: 'counter', name, help, series: [{ labels: NO_LABELS, key }] };
}

function speculation(name: string, help: string, key: SpeculationKey): CounterFamily {
  return { kind: 'counter', name, help, series: [{ labels: NO_LABELS, key }], isOptional: true };
}

function histogram(
  name: string,
  help: string,
  of: { key: HistogramKey; buckets: readonly number[] },
): HistogramFamily {
  return { kind: 'histogram', name, help, ...of };
}

/**
 * Every metric of an engine, once. A worker's own `/metrics` and the cluster-wide one of the API are both rendered from this table; vLLM's
 * names and HELP texts are those of vllm/v1/metrics/loggers.py, `baton:` marks what vLLM has no word for.
 */
export const ENGINE_METRICS: readonly MetricFamily[] = [
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
    help: "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for scheduling capacity; 'deferred' = deferred by transient constraints (LoRA budget, KV transfer, blocked status). Sum of all reasons equals vllm:num_requests_waiting.",
    series: [
      { labels: { reason: 'capacity' }, value: (engine) => engine.gauges.waitingCapacity },
      { labels: { reason: 'deferred' }, value: (engine) => engine.gauges.waitingDeferred },
    ],
  },
  {
    kind: 'gauge',
    name: 'vllm:engine_sleep_state',
    help: 'Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake; weights_offloaded = 1 means sleep level 1; discard_all = 1 means sleep level 2.',
    series: [
      { labels: { sleep_state: 'awake' }, value: () => 1 },
      { labels: { sleep_state: 'weights_offloaded' }, value: () => 0 },
      { labels: { sleep_state: 'discard_all' }, value: () => 0 },
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
    'External prefix cache queries from KV connector cross-instance cache sharing, in terms of number of queried tokens.',
    'external_prefix_cache_queries',
  ),
  counter(
    'vllm:external_prefix_cache_hits_total',
    'External prefix cache hits from KV connector cross-instance cache sharing, in terms of number of cached tokens.',
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
    'vllm:generation_tokens_total',
    'Number of generation tokens processed.',
    'generation_tokens',
  ),
  speculation(
    'vllm:spec_decode_num_drafts_total',
    'Number of spec decoding drafts.',
    'spec_decode_num_drafts',
  ),
  speculation(
    'vllm:spec_decode_num_draft_tokens_total',
    'Number of draft tokens.',
    'spec_decode_num_draft_tokens',
  ),
  speculation(
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
    { key: 'request_prefill_kv_computed_tokens', buckets: REQUEST_TOKENS },
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
    'Number of requests that had their KV expire.',
    'nixl_num_kv_expired_reqs',
  ),
  gauge(
    'baton:kv_held_blocks',
    'KV blocks held for decode engines that have not fetched them yet.',
    (engine) => engine.gauges.heldBlocks,
  ),
  gauge('baton:kv_blocks', 'KV blocks of the engine.', (engine) => engine.gauges.numBlocks),
  gauge(
    'baton:clock_lag_seconds',
    'How late the last second of engine steps ended on the wall clock, 99th percentile.',
    (engine) => engine.gauges.clockLagMs / 1_000,
  ),
  gauge(
    'baton:engine_ready',
    '1 when the engine takes work, 0 while it starts or drains.',
    (engine) => (engine.state === 'ready' ? 1 : 0),
  ),
  counter('baton:steps_total', 'Engine steps.', 'steps'),
  counter('baton:runs_started_total', 'Runs of requests that this engine began.', 'runs_started'),
  counter('baton:runs_aborted_total', 'Runs ended by an abort.', 'runs_aborted'),
  counter('baton:runs_failed_total', 'Runs ended by an error.', 'runs_failed'),
  counter(
    'baton:job_locks_lost_total',
    'Jobs whose lock this worker lost while it ran them.',
    'locks_lost',
  ),
  counter(
    'baton:clock_reanchors_total',
    'Times that the engine was more than a second behind and went on from now.',
    'clock_reanchors',
  ),
  histogram(
    'baton:job_delivery_seconds',
    'Wall time from the cause of a job (arrival, hold) to its arrival at the engine: the raw overhead that back-dating hides.',
    { key: 'job_delivery_seconds', buckets: OVERHEAD_SECONDS },
  ),
  histogram('baton:step_lag_seconds', 'How late engine steps ended on the wall clock.', {
    key: 'step_lag_seconds',
    buckets: OVERHEAD_SECONDS,
  }),
  histogram(
    'baton:intended_time_per_output_token_seconds',
    'Simulated time per output token after the first, per finished request: what the step-time model meant, before any wall clock.',
    { key: 'intended_time_per_output_token_seconds', buckets: TOKEN_SECONDS },
  ),
];
