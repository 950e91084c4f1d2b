import { DRAFT_TOKENS_MAX } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import {
  ITERATION_TOKENS,
  PREEMPTIONS,
  REQUEST_TOKENS,
  TRANSFER_BYTES,
  TRANSFER_DESCRIPTORS,
  TRANSFER_SECONDS,
} from './buckets';
import {
  counterBy,
  counters,
  type EngineFamily,
  gauge,
  gaugeBy,
  type HistogramRow,
  histograms,
} from './engine-family';

/** Every engine counts these, by the HELP texts of vllm/v1/metrics/loggers.py. */
export const VLLM_COUNTERS = {
  'vllm:prefix_cache_queries_total': 'Prefix cache queries, in terms of number of queried tokens.',
  'vllm:prefix_cache_hits_total': 'Prefix cache hits, in terms of number of cached tokens.',
  'vllm:external_prefix_cache_queries_total':
    'External prefix cache queries from KV connector cross-instance cache sharing, in terms ' +
    'of number of queried tokens.',
  'vllm:external_prefix_cache_hits_total':
    'External prefix cache hits from KV connector cross-instance cache sharing, in terms of ' +
    'number of cached tokens.',
  'vllm:num_preemptions_total': 'Cumulative number of preemption from the engine.',
  'vllm:prompt_tokens_total': 'Number of prefill tokens processed.',
  'vllm:prompt_tokens_cached_total': 'Number of cached prompt tokens (local + external).',
  'vllm:generation_tokens_total': 'Number of generation tokens processed.',
  'vllm:nixl_num_failed_transfers_total': 'Number of failed NIXL KV Cache transfers.',
  'vllm:nixl_num_failed_notifications_total': 'Number of failed NIXL KV Cache notifications.',
  'vllm:nixl_num_kv_expired_reqs_total':
    'Number of requests that had their KV expire. NOTE: This metric is tracked on the P instance.',
  'vllm:nixl_num_notifications_after_expiry_total':
    'Number of NIXL notifications that came after the KV of their request had expired.',
} as const;

/** Engines that draft tokens, or have host memory behind their KV cache, count these. */
export const VLLM_OPTIONAL_COUNTERS = {
  'vllm:spec_decode_num_drafts_total': 'Number of spec decoding drafts.',
  'vllm:spec_decode_num_draft_tokens_total': 'Number of draft tokens.',
  'vllm:spec_decode_num_accepted_tokens_total': 'Number of accepted tokens.',
  'vllm:kv_offload_load_bytes_total': 'Total bytes loaded from offload storage to GPU.',
  'vllm:kv_offload_load_time_total': 'Total load time from offload storage to GPU, in seconds.',
} as const;

export const PROMPT_SOURCES = {
  local_compute: 'prompt_tokens_local_compute',
  local_cache_hit: 'prompt_tokens_local_cache_hit',
  external_kv_transfer: 'prompt_tokens_external_kv_transfer',
} as const;

/** By the HELP texts of loggers.py and of the NIXL connector's stats.py. */
export const VLLM_HISTOGRAMS = {
  'vllm:iteration_tokens_total': {
    help: 'Histogram of number of tokens per engine_step.',
    buckets: ITERATION_TOKENS,
  },
  'vllm:request_num_preemptions': {
    help: 'Histogram of the number of times a request was preempted.',
    buckets: PREEMPTIONS,
    sinceMinor: 30,
  },
  'vllm:request_prefill_kv_computed_tokens': {
    help: 'Histogram of new KV tokens computed during prefill (excluding cached tokens).',
    buckets: REQUEST_TOKENS,
    endsAtModelLength: true,
  },
  'vllm:nixl_xfer_time_seconds': {
    help: 'Histogram of transfer duration for NIXL KV Cache transfers.',
    buckets: TRANSFER_SECONDS,
  },
  'vllm:nixl_post_time_seconds': {
    help: 'Histogram of transfer post time for NIXL KV Cache transfers.',
    buckets: [0.001, ...TRANSFER_SECONDS],
  },
  'vllm:nixl_bytes_transferred': {
    help: 'Histogram of bytes transferred per NIXL KV Cache transfers.',
    buckets: TRANSFER_BYTES,
  },
  'vllm:nixl_num_descriptors': {
    // Two spaces, as vLLM has them.
    help: 'Histogram of number of descriptors per NIXL  KV Cache transfers.',
    buckets: TRANSFER_DESCRIPTORS,
  },
} as const satisfies Readonly<Record<string, HistogramRow>>;

export function acceptedAt<Position extends number>(
  position: Position,
): `spec_decode_num_accepted_tokens_per_pos_${Position}` {
  return `spec_decode_num_accepted_tokens_per_pos_${position}`;
}

/** The metrics of an engine in vLLM. */
export const VLLM_FAMILIES: readonly EngineFamily[] = [
  gauge(
    'vllm:num_requests_running',
    'Number of requests in model execution batches.',
    ({ gauges }) => gauges.running,
  ),
  gauge(
    'vllm:num_requests_waiting',
    'Number of requests waiting to be processed.',
    ({ gauges }) => gauges.waitingCapacity + gauges.waitingDeferred,
  ),
  gaugeBy(
    {
      name: 'vllm:num_requests_waiting_by_reason',
      help:
        "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for " +
        "scheduling capacity; 'deferred' = deferred by transient constraints (LoRA budget, KV " +
        'transfer, blocked status). Sum of all reasons equals vllm:num_requests_waiting.',
    },
    'reason',
    {
      capacity: ({ gauges }) => gauges.waitingCapacity,
      deferred: ({ gauges }) => gauges.waitingDeferred,
    },
  ),
  gaugeBy(
    {
      name: 'vllm:num_requests_kv_fetch_by_stage',
      help:
        "Number of waiting requests by async KV load stage. Stage labels: 'waiting_to_start' = " +
        "needs an async KV load that has not started; 'in_progress' = load started and not yet " +
        "reported finished; 'completed_waiting' = load finished, request not running yet.",
      sinceMinor: 32,
    },
    'stage',
    {
      waiting_to_start: (engine) => fetches(engine, 'waiting_for_blocks'),
      in_progress: (engine) => fetches(engine, 'waiting_for_answer', 'transferring'),
      completed_waiting: (engine) => fetchedOf(engine),
    },
  ),
  gaugeBy(
    {
      name: 'vllm:engine_sleep_state',
      help:
        'Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is ' +
        'awake; weights_offloaded = 1 means sleep level 1; discard_all = 1 means sleep level 2.',
    },
    'sleep_state',
    {
      awake: (engine) => isAsleepAt(engine, 0),
      weights_offloaded: (engine) => isAsleepAt(engine, 1),
      discard_all: (engine) => isAsleepAt(engine, 2),
    },
  ),
  gauge(
    'vllm:kv_cache_usage_perc',
    'KV-cache usage. 1 means 100 percent usage.',
    ({ gauges }) => gauges.kvUsage,
  ),
  ...counters(VLLM_COUNTERS),
  ...counters(VLLM_OPTIONAL_COUNTERS),
  counterBy({
    name: 'vllm:prompt_tokens_by_source_total',
    help: 'Number of prompt tokens by source.',
    label: 'source',
    keys: PROMPT_SOURCES,
  }),
  counterBy({
    name: 'vllm:spec_decode_num_accepted_tokens_per_pos_total',
    help: 'Accepted tokens per draft position.',
    label: 'position',
    keys: Object.fromEntries(
      Array.from({ length: DRAFT_TOKENS_MAX }, (_, position) => [position, acceptedAt(position)]),
    ),
  }),
  {
    name: 'vllm:prompt_tokens_cached_by_source_total',
    help:
      'Prefix-cache hit tokens by the cache tier that supplied them: device (local HBM), host ' +
      '(offloaded to DRAM), disk, p2p (transferred from another vLLM instance) or ' +
      'external_unspecified. Counted at admission; sums to vllm:prefix_cache_hits + ' +
      'vllm:external_prefix_cache_hits.',
    type: 'counter',
    sinceMinor: 32,
    samples: cachedBySource,
  },
  ...histograms(VLLM_HISTOGRAMS),
];

function isAsleepAt({ gauges }: EnginePresence, level: number): number {
  return (gauges.sleepLevel ?? 0) === level ? 1 : 0;
}

type Fetches = NonNullable<EnginePresence['gauges']['handoffs']>;

/** vLLM shows these of consumers of KV alone. */
function fetches(
  { stage, gauges }: EnginePresence,
  ...states: readonly (keyof Fetches)[]
): number | undefined {
  if (stage === 'prefill') return undefined;
  return states.reduce((sum, state) => sum + (gauges.handoffs?.[state] ?? 0), 0);
}

function fetchedOf({ stage, gauges }: EnginePresence): number | undefined {
  return stage === 'prefill' ? undefined : (gauges.fetchedWaiting ?? 0);
}

/** The local hits of Baton include the blocks of host memory and of a KV pool. */
function cachedBySource({ counters: counts }: EnginePresence) {
  const count = (key: string): number => counts[key] ?? 0;
  const host = count('prompt_tokens_from_host');
  const pool = count('kv_pool_prompt_tokens');
  const tokens = {
    device: Math.max(0, count('prefix_cache_hits') - host - pool),
    host,
    p2p: count('external_prefix_cache_hits') + pool,
    disk: 0,
    external_unspecified: 0,
  };
  return Object.entries(tokens).map(([source, value]) => ({ labels: { source }, value }));
}
