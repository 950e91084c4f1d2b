import { HANDOFF_STATES } from '@baton/contract';
import { OVERHEAD_SECONDS, TOKEN_SECONDS } from './buckets';
import {
  counter,
  counterBy,
  gauge,
  histogram,
  type MetricFamily,
  optionalCounter,
  UPSTREAM_OUTCOMES,
} from './metric-family';

/** Families that vLLM does not have, by engine. */
export const BATON_FAMILIES: readonly MetricFamily[] = [
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
  counter('baton:step_seconds_total', 'Simulated seconds in engine steps.', 'step_seconds'),
  counter('baton:runs_started_total', 'Runs of requests that this engine began.', 'runs_started'),
  counter('baton:runs_aborted_total', 'Runs ended by an abort.', 'runs_aborted'),
  counter('baton:runs_failed_total', 'Runs ended by an error.', 'runs_failed'),
  counter(
    'baton:job_locks_lost_total',
    'Jobs whose lock this worker lost while it ran them.',
    'locks_lost',
  ),
  counter(
    'baton:jobs_dropped_total',
    'Jobs dropped because their data was missing or not valid.',
    'jobs_dropped',
  ),
  counter(
    'baton:runs_excused_total',
    'Runs that this engine lost because it was late; they do not count against max_runs.',
    'runs_excused',
  ),
  gauge(
    'baton:starved_seconds',
    'Longest recent pause of the process; it loses half of its weight in lateness_half_life.',
    (engine) => (engine.gauges.latenessMs ?? 0) / 1_000,
  ),
  counter(
    'baton:clock_reanchors_total',
    'Times that the engine was more than a second behind and went on from now.',
    'clock_reanchors',
  ),
  histogram(
    'baton:job_delivery_seconds',
    'Wall time from the cause of a job (arrival, hold) to its arrival at the engine: the ' +
      'raw overhead that back-dating hides.',
    { key: 'job_delivery_seconds', buckets: OVERHEAD_SECONDS },
  ),
  histogram('baton:step_lag_seconds', 'How late engine steps ended on the wall clock.', {
    key: 'step_lag_seconds',
    buckets: OVERHEAD_SECONDS,
  }),
  histogram(
    'baton:intended_time_per_output_token_seconds',
    'Simulated time per output token after the first, per finished request: what the ' +
      'step-time model meant, before any wall clock.',
    { key: 'intended_time_per_output_token_seconds', buckets: TOKEN_SECONDS },
  ),
  {
    kind: 'gauge',
    name: 'baton:kv_handoffs',
    help:
      'Hand-overs under way by state: held and being_read where the blocks are, ' +
      'waiting_for_blocks, waiting_for_answer and transferring where they are wanted.',
    series: HANDOFF_STATES.map((state) => ({
      labels: { state },
      value: ({ gauges }) => gauges.handoffs?.[state] ?? 0,
    })),
  },
  counter(
    'baton:kv_holdings_total',
    'Prompts whose blocks were held for a decode engine.',
    'kv_holdings',
  ),
  counterBy(
    {
      name: 'baton:kv_releases_total',
      help: 'Held blocks let go, by reason; expired is the end of a lease.',
    },
    'reason',
    {
      read_done: 'kv_released_read_done',
      expired: 'kv_released_expired',
      aborted: 'kv_released_aborted',
      superseded: 'kv_released_superseded',
      rejected: 'kv_released_rejected',
    },
  ),
  counterBy(
    { name: 'baton:kv_fetches_total', help: 'Fetches of held KV that ended, by outcome.' },
    'outcome',
    {
      done: 'kv_fetched',
      lost: 'kv_fetch_lost',
      expired: 'kv_fetch_expired',
      timeout: 'kv_fetch_timeout',
      aborted: 'kv_fetch_aborted',
      rejected: 'kv_fetch_rejected',
      superseded: 'kv_fetch_superseded',
      declined: 'kv_fetch_declined',
    },
  ),
  counter(
    'baton:kv_lease_renewals_total',
    'Leases that readers asked to renew, over all heartbeats.',
    'kv_lease_renewals',
  ),
  counter(
    'baton:kv_reads_refused_total',
    'Reads answered with expired: the blocks were not held any more.',
    'kv_reads_refused',
  ),
  counter(
    'baton:conservation_audits_total',
    'Checks of an idle engine for blocks without an owner.',
    'conservation_audits',
  ),
  gauge(
    'baton:kv_lost_blocks',
    'KV blocks that were in use at the last look at the idle engine; 0 unless blocks were lost.',
    ({ gauges }) => gauges.lostBlocks ?? 0,
  ),
  optionalCounter(
    'baton:steps_outside_range_total',
    'Steps whose batch lay outside of the range in which their step times were measured.',
    'steps_outside_range',
  ),
  optionalCounter(
    'baton:steps_of_unmeasured_shape_total',
    'Steps outside of the range of a shape of which nothing was measured.',
    'steps_of_unmeasured_shape',
  ),
  gauge(
    'baton:step_farthest_outside_range_ratio',
    'Largest value of a step by the largest that was measured; 1: none lay above it.',
    ({ gauges }) => gauges.farthestOutside,
  ),
  optionalCounter(
    'baton:prompt_tokens_from_host_total',
    'Prompt tokens whose KV was loaded from host memory; they are part of the local cache hits.',
    'prompt_tokens_from_host',
  ),
  optionalCounter(
    'baton:kv_pool_prompt_tokens_total',
    'Prompt tokens whose KV was fetched from other engines; part of the local cache hits.',
    'kv_pool_prompt_tokens',
  ),
  optionalCounter(
    'baton:kv_pool_fetched_bytes_total',
    'KV that one rank of the engine fetched from the memory of other engines, in bytes.',
    'kv_pool_fetched_bytes',
  ),
  optionalCounter(
    'baton:kv_pool_fetch_seconds_total',
    'Simulated time of those fetches, waiting for links included.',
    'kv_pool_fetch_seconds',
  ),
  optionalCounter(
    'baton:kv_pool_fetches_declined_total',
    'Prefixes of other engines that were computed because that took less time.',
    'kv_pool_fetches_declined',
  ),
  optionalCounter(
    'baton:kv_pool_blocks_stored_total',
    'KV blocks stored in the memory that the engine gives to the pool.',
    'kv_pool_blocks_stored',
  ),
  optionalCounter(
    'baton:kv_pool_blocks_evicted_total',
    'KV blocks that this memory dropped.',
    'kv_pool_blocks_evicted',
  ),
  {
    kind: 'counter',
    name: 'baton:upstream_requests_total',
    help: 'Legs that an engine had on its upstream server, by how they ended.',
    series: UPSTREAM_OUTCOMES.map((outcome) => ({
      labels: { outcome },
      key: `upstream_${outcome}` as const,
    })),
    isOptional: true,
  },
  optionalCounter(
    'baton:upstream_retries_total',
    'Runs given up before their first token, because their leg on the upstream server ' +
      'failed, to be tried again.',
    'upstream_retries',
  ),
  gauge(
    'baton:upstream_up',
    '1 when the upstream server of the engine answers, 0 while it is down.',
    ({ gauges }) => gauges.upstreamUp,
  ),
  optionalCounter(
    'baton:worker_restarts_total',
    'Times that the process of this engine was started again by its supervisor.',
    'process_restarts',
  ),
];
