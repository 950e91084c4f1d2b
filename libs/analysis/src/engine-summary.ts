import { usToSeconds, type Micros } from '@baton/kernel';
import { roundTo } from './round-to';
import type { EngineRecord, EngineRoleName } from './run-record';

/** Totals of one engine in a result. */
export interface EngineSummary {
  readonly engine: string;
  readonly role: EngineRoleName;
  readonly gpus: number;
  readonly steps: number;
  /** Prompt tokens computed and tokens generated in a mean step. Null without steps. */
  readonly tokens_per_step: number | null;
  readonly max_num_batched_tokens: number;
  /** Mean number of sequences in its batch, over the run. */
  readonly running_mean: number | null;
  readonly max_num_seqs: number;
  /** Share of its time during which a step was under way, 0..1. */
  readonly utilisation: number | null;
  readonly busy_seconds: number | null;
  readonly up_seconds: number | null;
  readonly finished: number;
  readonly prompt_tokens_computed: number;
  readonly prompt_tokens_cached: number;
  readonly prompt_tokens_transferred: number;
  readonly generated_tokens: number;
  readonly prefix_hit_rate: number | null;
  readonly kv_blocks: number;
  readonly kv_usage_mean: number | null;
  readonly kv_usage_max: number | null;
  readonly kv_transfer_bytes: number;
  readonly preemptions: number;
  readonly lease_expiries: number;
}

export function engineSummary(engine: EngineRecord): EngineSummary {
  return {
    engine: engine.engineId,
    role: engine.role,
    gpus: engine.gpus,
    steps: engine.steps,
    tokens_per_step: roundTo(tokensPerStep([engine]), 3),
    max_num_batched_tokens: engine.maxNumBatchedTokens,
    running_mean: roundTo(engine.runningMean, 3),
    max_num_seqs: engine.maxNumSeqs,
    utilisation: share(engine.busyUs, engine.upUs),
    busy_seconds: seconds(engine.busyUs),
    up_seconds: seconds(engine.upUs),
    finished: engine.finished,
    prompt_tokens_computed: engine.promptTokensComputed,
    prompt_tokens_cached: engine.promptTokensCached,
    prompt_tokens_transferred: engine.promptTokensTransferred,
    generated_tokens: engine.generatedTokens,
    prefix_hit_rate: share(engine.prefixHitsTokens, engine.prefixQueriesTokens),
    kv_blocks: engine.numBlocks,
    kv_usage_mean: roundTo(engine.kvUsageMean, 6),
    kv_usage_max: roundTo(engine.kvUsageMax, 6),
    kv_transfer_bytes: engine.kvTransferBytes,
    preemptions: engine.preemptions,
    lease_expiries: engine.leaseExpiries,
  };
}

/** Tokens computed and generated per step, over all steps of some engines. NaN without steps. */
export function tokensPerStep(engines: readonly EngineRecord[]): number {
  const sumOf = (value: (engine: EngineRecord) => number): number =>
    engines.reduce((sum, engine) => sum + value(engine), 0);
  const tokens = sumOf((each) => each.promptTokensComputed + each.generatedTokens);
  return tokens / sumOf((each) => each.steps);
}

/** `part / whole` to six decimals. Null when the whole is 0. */
export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : roundTo(part / whole, 6);
}

function seconds(us: Micros): number | null {
  return roundTo(usToSeconds(us), 6);
}
