import { type EnginePresence, HANDOFF_STATES } from '@baton/contract';
import { OVERHEAD_SECONDS, TOKEN_SECONDS } from './buckets';
import {
  counterBy,
  counters,
  type EngineFamily,
  gauge,
  gaugeBy,
  type HistogramRow,
  histograms,
  info,
} from './engine-family';

/** Every engine counts these. */
export const BATON_COUNTERS = {
  'baton:steps_total': 'Engine steps.',
  'baton:step_seconds_total': 'Simulated seconds in engine steps.',
  'baton:runs_started_total': 'Runs of requests that this engine began.',
  'baton:runs_aborted_total': 'Runs ended by an abort.',
  'baton:runs_failed_total': 'Runs ended by an error.',
  'baton:job_locks_lost_total': 'Jobs whose lock this worker lost while it ran them.',
  'baton:jobs_dropped_total': 'Jobs dropped because their data was missing or not valid.',
  'baton:runs_excused_total':
    'Runs that this engine lost because it was late; they do not count against max_runs.',
  'baton:clock_reanchors_total':
    'Times that the engine was more than a second behind and went on from now.',
  'baton:kv_holdings_total': 'Prompts whose blocks were held for a decode engine.',
  'baton:kv_lease_renewals_total': 'Leases that readers asked to renew, over all heartbeats.',
  'baton:kv_reads_refused_total': 'Reads answered with expired: the blocks were not held any more.',
  'baton:conservation_audits_total': 'Checks of an idle engine for blocks without an owner.',
} as const;

/** Engines with a part of their own count these: a range of step times, host memory, a KV pool. */
export const BATON_OPTIONAL_COUNTERS = {
  'baton:steps_outside_range_total':
    'Steps whose batch lay outside of the range in which their step times were measured.',
  'baton:steps_of_unmeasured_shape_total':
    'Steps outside of the range of a shape that was not measured at all.',
  'baton:prompt_tokens_from_host_total':
    'Prompt tokens whose KV was loaded from host memory; they are part of the local cache hits.',
  'baton:kv_pool_prompt_tokens_total':
    'Prompt tokens whose KV was fetched from other engines; part of the local cache hits.',
  'baton:kv_pool_fetched_bytes_total':
    'KV that one rank of the engine fetched from the memory of other engines, in bytes.',
  'baton:kv_pool_fetch_seconds_total':
    'Simulated time of those fetches, waiting for links included.',
  'baton:kv_pool_fetches_declined_total':
    'Prefixes of other engines that were computed because that took less time.',
  'baton:kv_pool_blocks_stored_total':
    'KV blocks stored in the memory that the engine gives to the pool.',
  'baton:kv_pool_blocks_evicted_total': 'KV blocks that this memory dropped.',
  'baton:upstream_retries_total':
    'Runs given up before their first token, because their leg on the upstream server ' +
    'failed, to be tried again.',
  'baton:worker_restarts_total':
    'Times that the process of this engine was started again by its supervisor.',
} as const;

export const KV_RELEASES = {
  read_done: 'kv_released_read_done',
  expired: 'kv_released_expired',
  aborted: 'kv_released_aborted',
  superseded: 'kv_released_superseded',
  rejected: 'kv_released_rejected',
} as const;

export const KV_FETCHES = {
  done: 'kv_fetched',
  lost: 'kv_fetch_lost',
  expired: 'kv_fetch_expired',
  timeout: 'kv_fetch_timeout',
  aborted: 'kv_fetch_aborted',
  rejected: 'kv_fetch_rejected',
  superseded: 'kv_fetch_superseded',
  declined: 'kv_fetch_declined',
} as const;

/** The possible ends of a leg on the server of an executing engine. */
export const UPSTREAM_OUTCOMES = [
  'ok',
  'refused',
  'unreachable',
  'timeout',
  'cut',
  'garbled',
  'aborted',
] as const;

export const BATON_HISTOGRAMS = {
  'baton:job_delivery_seconds': {
    help:
      'Wall time from the cause of a job (arrival, hold) to its arrival at the engine: the ' +
      'raw overhead that back-dating hides.',
    buckets: OVERHEAD_SECONDS,
  },
  'baton:step_lag_seconds': {
    help: 'How late engine steps ended on the wall clock.',
    buckets: OVERHEAD_SECONDS,
  },
  'baton:intended_time_per_output_token_seconds': {
    help:
      'Simulated time per output token after the first, per finished request: what the ' +
      'step-time model meant, before any wall clock.',
    buckets: TOKEN_SECONDS,
  },
} as const satisfies Readonly<Record<string, HistogramRow>>;

/** Families that vLLM does not have, by engine. */
export const BATON_FAMILIES: readonly EngineFamily[] = [
  gauge(
    'baton:kv_held_blocks',
    'KV blocks held for decode engines that have not fetched them yet.',
    ({ gauges }) => gauges.heldBlocks,
  ),
  gauge('baton:kv_blocks', 'KV blocks of the engine.', ({ gauges }) => gauges.numBlocks),
  gauge(
    'baton:clock_lag_seconds',
    'How late the last second of engine steps ended on the wall clock, 99th percentile.',
    ({ gauges }) => gauges.clockLagMs / 1_000,
  ),
  gauge(
    'baton:engine_ready',
    '1 when the engine takes work, 0 while it starts or drains.',
    ({ state }) => (state === 'ready' ? 1 : 0),
  ),
  gauge(
    'baton:starved_seconds',
    'Longest recent pause of the process; it loses half of its weight in lateness_half_life.',
    ({ gauges }) => (gauges.latenessMs ?? 0) / 1_000,
  ),
  gauge(
    'baton:kv_lost_blocks',
    'KV blocks that were in use at the last look at the idle engine; 0 unless blocks were lost.',
    ({ gauges }) => gauges.lostBlocks ?? 0,
  ),
  gauge(
    'baton:step_farthest_outside_range_ratio',
    'Largest value of a step by the largest that was measured; 1: none lay above it.',
    ({ gauges }) => gauges.farthestOutside,
  ),
  gauge(
    'baton:upstream_up',
    '1 when the upstream server of the engine answers, 0 while it is down.',
    ({ gauges }) => gauges.upstreamUp,
  ),
  gaugeBy(
    {
      name: 'baton:kv_handoffs',
      help:
        'Hand-overs under way by state: held and being_read where the blocks are, ' +
        'waiting_for_blocks, waiting_for_answer and transferring where they are wanted.',
    },
    'state',
    Object.fromEntries(
      HANDOFF_STATES.map((state) => [
        state,
        ({ gauges }: EnginePresence) => gauges.handoffs?.[state] ?? 0,
      ]),
    ),
  ),
  // vLLM's families have no label for the stage; join them with this one on `engine`.
  info(
    'baton:engine_info',
    'Stage and name of the engine; join it with the families of engines.',
    ({ stage, name }) => ({ stage, name }),
  ),
  info(
    'baton:step_time_info',
    'How the step times of the engine are made: composed, calibrated, estimated or given.',
    ({ stage, stepTimes }) => stepTimes && { stage, ...stepTimes },
  ),
  ...counters(BATON_COUNTERS),
  ...counters(BATON_OPTIONAL_COUNTERS),
  counterBy({
    name: 'baton:kv_releases_total',
    help: 'Held blocks let go, by reason; expired is the end of a lease.',
    label: 'reason',
    keys: KV_RELEASES,
  }),
  counterBy({
    name: 'baton:kv_fetches_total',
    help: 'Fetches of held KV that ended, by outcome.',
    label: 'outcome',
    keys: KV_FETCHES,
  }),
  counterBy({
    name: 'baton:upstream_requests_total',
    help: 'Legs that an engine had on its upstream server, by how they ended.',
    label: 'outcome',
    keys: Object.fromEntries(UPSTREAM_OUTCOMES.map((outcome) => [outcome, `upstream_${outcome}`])),
  }),
  ...histograms(BATON_HISTOGRAMS),
];
