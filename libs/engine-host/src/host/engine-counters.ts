import { usToSeconds } from '@baton/kernel';
import { acceptedAt, type EngineStats, type OptionalKey, type PoolKey } from '@baton/telemetry';
import type { EngineSlot } from '../run/engine/engine-slot';
import type { ExecutorNumbers } from '../run/jobs/executor';
import type { DriverOptions } from '../run/options';
import type { PoolNode } from '../run/pool/pool-node';

/** The sources of the counters. */
export interface CounterSources {
  readonly options: Pick<DriverOptions, 'hostTier' | 'stepTimes'>;
  readonly slot: EngineSlot;
  /** Undefined without a KV pool. */
  readonly poolNode: PoolNode | undefined;
  readonly stats: EngineStats;
}

/** All counters of an engine, by their names in the presence. */
export function engineCounters(
  { options, slot, stats, poolNode }: CounterSources,
  executor: ExecutorNumbers | undefined,
): Record<string, number> {
  const computed = slot.count('promptTokensComputed');
  const cached = slot.count('promptTokensCached');
  const transferred = slot.count('promptTokensTransferred');
  return {
    ...stats.counters(),
    steps: slot.count('steps'),
    num_preemptions: slot.count('preemptions'),
    generation_tokens: stats.count('generation_tokens') + slot.count('generatedTokens'),
    prefix_cache_queries: slot.count('prefixQueriesTokens'),
    prefix_cache_hits: slot.count('prefixHitsTokens'),
    prompt_tokens: computed + cached + transferred,
    prompt_tokens_local_compute: computed,
    prompt_tokens_local_cache_hit: cached,
    prompt_tokens_external_kv_transfer: transferred,
    prompt_tokens_cached: cached + transferred,
    ...speculationCounters(slot),
    ...executor?.counters,
    ...optionalCounters(options, slot.count('promptTokensLoadedFromHost')),
    ...(poolNode && poolCounters(poolNode, slot.count('promptTokensFetched'))),
  };
}

/** Counters that not every engine has. */
function optionalCounters(
  { hostTier, stepTimes }: CounterSources['options'],
  tokensFromHost: number,
): Partial<Record<OptionalKey, number>> {
  const outside = stepTimes?.outside?.();
  const restarts = Number(process.env['BATON_RESTARTS'] ?? 0);
  const bytes = tokensFromHost * (hostTier?.bytesPerToken ?? 0);
  return {
    worker_restarts: restarts,
    ...(outside && {
      steps_outside_range: outside.steps,
      steps_of_unmeasured_shape: outside.unmeasured,
    }),
    ...(hostTier && {
      prompt_tokens_from_host: tokensFromHost,
      kv_offload_load_bytes: bytes,
      kv_offload_load_time: bytes / hostTier.bytesPerSecond,
    }),
  };
}

function poolCounters({ member }: PoolNode, tokens: number): Record<PoolKey, number> {
  const { stored, evicted, fetched, declined, fetchUs } = member.counters;
  return {
    kv_pool_prompt_tokens: tokens,
    kv_pool_fetched_bytes: fetched * member.terms.bytesPerBlock,
    kv_pool_fetch_seconds: usToSeconds(fetchUs),
    kv_pool_fetches_declined: declined,
    kv_pool_blocks_stored: stored,
    kv_pool_blocks_evicted: evicted,
  };
}

/** Empty without speculation, because vLLM has these families only with it. */
function speculationCounters(slot: EngineSlot): Record<string, number> {
  const { acceptedPerPosition } = slot.engine;
  if (acceptedPerPosition.length === 0) return {};
  const perPosition = acceptedPerPosition.map((count, position) => [acceptedAt(position), count]);
  return {
    spec_decode_num_drafts: slot.count('drafts'),
    spec_decode_num_draft_tokens: slot.count('draftTokens'),
    spec_decode_num_accepted_tokens: slot.count('acceptedTokens'),
    ...Object.fromEntries(perPosition),
  };
}
