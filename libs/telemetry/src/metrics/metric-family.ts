import type { EnginePresence } from '@baton/contract';

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
    /** Undefined when this engine has no such series. */
    readonly value: (engine: EnginePresence) => number | undefined;
  }[];
}

/** `key` names the number in `EnginePresence.counters`. */
export interface CounterFamily extends FamilyHead {
  readonly kind: 'counter';
  readonly series: readonly {
    readonly labels: SeriesLabels;
    readonly key: CounterKey | SpeculationKey | OptionalKey | UpstreamKey;
  }[];
  /**
   * True when only engines that count it have the series. Otherwise the other engines have the
   * value 0.
   */
  readonly isOptional?: true;
}

/** `key` names the snapshot in `EnginePresence.histograms`. */
export interface HistogramFamily extends FamilyHead {
  readonly kind: 'histogram';
  readonly key: HistogramKey;
  readonly buckets: readonly number[];
  /** vLLM ends these buckets at `max_model_len`. */
  readonly endsAtModelLength?: true;
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
  'prompt_tokens_recomputed',
  'generation_tokens',
  'nixl_num_failed_transfers',
  'nixl_num_failed_notifications',
  'nixl_num_kv_expired_reqs',
  'nixl_num_notifications_after_expiry',
  'steps',
  'step_seconds',
  'runs_started',
  'placed_jobs',
  'runs_aborted',
  'runs_failed',
  'locks_lost',
  'jobs_dropped',
  'runs_excused',
  'clock_reanchors',
  'kv_holdings',
  'kv_released_read_done',
  'kv_released_expired',
  'kv_released_aborted',
  'kv_released_superseded',
  'kv_released_rejected',
  'kv_lease_renewals',
  'kv_reads_refused',
  'kv_fetched',
  'kv_fetch_lost',
  'kv_fetch_expired',
  'kv_fetch_timeout',
  'kv_fetch_aborted',
  'kv_fetch_rejected',
  'kv_fetch_superseded',
  'kv_fetch_declined',
  'conservation_audits',
] as const;

export type CounterKey = (typeof COUNTER_KEYS)[number];

/** Counted by engines that draft tokens. */
export type SpeculationKey =
  | 'spec_decode_num_drafts'
  | 'spec_decode_num_draft_tokens'
  | 'spec_decode_num_accepted_tokens'
  | `spec_decode_num_accepted_tokens_per_pos_${number}`;

/**
 * Only engines with the feature count it: host memory behind the KV cache, step times with a range,
 * a supervisor.
 */
export type OptionalKey =
  | 'kv_offload_load_bytes'
  | 'kv_offload_load_seconds'
  | 'prompt_tokens_from_host'
  | 'steps_outside_range'
  | 'steps_of_unmeasured_shape'
  | 'process_restarts'
  | PoolKey;

/** Counted by engines of a KV pool. */
export type PoolKey =
  | 'kv_pool_prompt_tokens'
  | 'kv_pool_fetched_bytes'
  | 'kv_pool_fetch_seconds'
  | 'kv_pool_fetches_declined'
  | 'kv_pool_blocks_stored'
  | 'kv_pool_blocks_evicted';

/**
 * The possible ends of a leg on the server of an executing engine: the labels of
 * `baton:upstream_requests_total`.
 */
export const UPSTREAM_OUTCOMES = [
  'ok',
  'refused',
  'unreachable',
  'timeout',
  'cut',
  'garbled',
  'aborted',
] as const;

export type UpstreamOutcome = (typeof UPSTREAM_OUTCOMES)[number];

/** Counted by engines whose work runs on a server. */
export type UpstreamKey = `upstream_${UpstreamOutcome}` | 'upstream_retries';

export function acceptedAt(position: number): SpeculationKey {
  return `spec_decode_num_accepted_tokens_per_pos_${position}`;
}

export const HISTOGRAM_KEYS = [
  'iteration_tokens_total',
  'request_prefill_kv_computed_tokens',
  'nixl_xfer_time_seconds',
  'nixl_post_time_seconds',
  'nixl_bytes_transferred',
  'nixl_num_descriptors',
  'job_delivery_seconds',
  'step_lag_seconds',
  'intended_time_per_output_token_seconds',
] as const;

export type HistogramKey = (typeof HISTOGRAM_KEYS)[number];

const NO_LABELS: SeriesLabels = {};

export function gauge(
  name: string,
  help: string,
  value: (engine: EnginePresence) => number | undefined,
): GaugeFamily {
  return { kind: 'gauge', name, help, series: [{ labels: NO_LABELS, value }] };
}

export function counter(name: string, help: string, key: CounterKey): CounterFamily {
  return { kind: 'counter', name, help, series: [{ labels: NO_LABELS, key }] };
}

export function optionalCounter(
  name: string,
  help: string,
  key: SpeculationKey | OptionalKey | UpstreamKey,
): CounterFamily {
  return { kind: 'counter', name, help, series: [{ labels: NO_LABELS, key }], isOptional: true };
}

export function histogram(
  name: string,
  help: string,
  of: Pick<HistogramFamily, 'key' | 'buckets' | 'endsAtModelLength'>,
): HistogramFamily {
  return { kind: 'histogram', name, help, ...of };
}

/** One series per value of `label`, each a counter of its own. */
export function counterBy(
  head: FamilyHead,
  label: string,
  keys: Readonly<Record<string, CounterKey>>,
): CounterFamily {
  const series = Object.entries(keys).map(([value, key]) => ({ labels: { [label]: value }, key }));
  return { kind: 'counter', ...head, series };
}
