import { usToSeconds } from '@baton/kernel';
import type { Topology } from '../../placement/topology/topology';
import { forEstimates, prefillUs, type StepTimeModel } from '@baton/step-time';

/** The facts on which the capacity of an engine depends, all of one data-parallel rank. */
export interface CapacityFacts {
  readonly stepTime: StepTimeModel;
  readonly maxNumBatchedTokens: number;
  readonly maxNumSeqs: number;
  /** Size of its KV cache, in tokens. */
  readonly kvTokens: number;
  /** Data-parallel ranks of an engine. Unset: 1. */
  readonly ranks?: number;
}

/** Mean requests of a time span. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** The mean step of a load; numbers may be fractions. */
export interface MeanStep {
  readonly prefillTokens: number;
  /** Mean length of the prompts that these tokens belong to. */
  readonly promptTokens: number;
  readonly decodeSeqs: number;
  /** Σ tokens in KV of the decoding sequences. */
  readonly decodeContext: number;
}

/**
 * The capacity of one engine, computed from its step times, without a queue and without cached
 * prompts. Dynamo's planner interpolates the same figures from profiles. The data-parallel ranks of
 * an engine have equal shares of its load; a prompt is computed by one of them.
 */
export class EngineCapacity {
  /** Data-parallel ranks of the engine. */
  readonly ranks: number;
  /** One rank as an engine of its own. */
  readonly ofRank: EngineCapacity;
  private readonly facts: CapacityFacts;

  constructor(facts: CapacityFacts) {
    this.facts = { ...facts, stepTime: forEstimates(facts.stepTime) };
    this.ranks = facts.ranks ?? 1;
    this.ofRank = this.ranks === 1 ? this : new EngineCapacity({ ...facts, ranks: 1 });
  }

  /** Tokens of one step of all ranks. */
  get maxNumBatchedTokens(): number {
    return this.facts.maxNumBatchedTokens * this.ranks;
  }

  get maxNumSeqs(): number {
    return this.facts.maxNumSeqs * this.ranks;
  }

  /** Size of the KV caches of all ranks, in tokens. */
  get kvTokens(): number {
    return this.facts.kvTokens * this.ranks;
  }

  /**
   * Duration of a step of one rank. Its chunks lie anywhere in their prompts, so a token attends to
   * half a prompt on average.
   */
  stepSeconds({ prefillTokens, promptTokens, decodeSeqs, decodeContext }: MeanStep): number {
    const tokens = Math.round(prefillTokens);
    const prefillSeqs = Math.ceil(tokens / wholeTokens(promptTokens));
    const us = this.facts.stepTime.stepUs({
      prefillTokens: tokens,
      prefillSeqs,
      prefillQuadratic: Math.round(tokens * promptTokens),
      prefillContext: Math.round(Math.max(0, prefillSeqs * promptTokens - tokens) / 2),
      decodeSeqs: Math.round(decodeSeqs),
      decodeContext: Math.round(decodeContext),
      kvUsage: 0,
    });
    return usToSeconds(us);
  }

  /** Time of a prompt that is alone in the engine, seconds. */
  ttftSeconds(promptTokens: number): number {
    return usToSeconds(this.promptUs(promptTokens));
  }

  /** Prompt tokens per second when every step is full of such prompts. */
  promptTokensPerSecond(promptTokens: number): number {
    const { stepTime, maxNumBatchedTokens } = this.facts;
    const tokens = wholeTokens(promptTokens);
    const prompts = Math.max(1, Math.floor(maxNumBatchedTokens / tokens));
    if (prompts === 1) return (this.ranks * tokens) / usToSeconds(this.promptUs(tokens));
    const us = stepTime.stepUs({
      prefillTokens: prompts * tokens,
      prefillSeqs: prompts,
      prefillQuadratic: prompts * tokens * tokens,
      prefillContext: 0,
      decodeSeqs: 0,
      decodeContext: 0,
      kvUsage: 0,
    });
    return (this.ranks * prompts * tokens) / usToSeconds(us);
  }

  /** Duration of a step of this many sequences with this context each. */
  itlSeconds(sequences: number, contextTokens: number): number {
    const own = sequences / this.ranks;
    const us = this.facts.stepTime.stepUs({
      prefillTokens: 0,
      prefillSeqs: 0,
      prefillQuadratic: 0,
      prefillContext: 0,
      decodeSeqs: Math.round(own),
      decodeContext: Math.round(own * contextTokens),
      kvUsage: 0,
    });
    return usToSeconds(us);
  }

  /**
   * The highest token rate at which gaps keep the objective. If no batch keeps it: the rate of one
   * sequence per rank.
   */
  outputTokensPerSecond(itlSeconds: number, contextTokens: number): number {
    const sequences = this.sequencesWithin(itlSeconds, contextTokens);
    return sequences / this.itlSeconds(sequences, contextTokens);
  }

  /** The largest batch whose gaps keep the objective and whose KV fits, at least 1 per rank. */
  sequencesWithin(itlSeconds: number, contextTokens: number): number {
    if (this.ranks > 1) return this.ranks * this.ofRank.sequencesWithin(itlSeconds, contextTokens);
    let low = 1;
    let high = this.mostSequences(contextTokens);
    // For most batches the blocks are the tighter bound.
    if (this.itlSeconds(high, contextTokens) <= itlSeconds) return high;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.itlSeconds(middle, contextTokens) <= itlSeconds) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private mostSequences(contextTokens: number): number {
    const { maxNumSeqs, kvTokens } = this.facts;
    return Math.max(1, Math.min(maxNumSeqs, Math.floor(kvTokens / contextTokens)));
  }

  private promptUs(promptTokens: number): number {
    const { stepTime, maxNumBatchedTokens } = this.facts;
    const tokens = wholeTokens(promptTokens);
    return prefillUs(stepTime, { tokens, cached: 0 }, maxNumBatchedTokens);
  }
}

/** Step-time models accept whole tokens only, at least one. */
function wholeTokens(mean: number): number {
  return Math.max(1, Math.round(mean));
}

/** Capacities by role. Unset for roles without engines. */
export type Capacities = Readonly<Partial<Record<keyof Topology, EngineCapacity>>>;

/**
 * The number of engines that a load keeps busy, with fractions. Prefill: prompt tokens per second
 * over the rate of one engine. Decode: output tokens per second over the rate of one engine within
 * the objective. Aggregated: the sum of both.
 */
export function busyEngines(
  { requestsPerSecond, promptTokens, outputTokens }: Load,
  capacities: Capacities,
  itlSeconds: number,
): Topology {
  if (requestsPerSecond <= 0) return { prefill: 0, decode: 0, aggregated: 0 };
  const context = promptTokens + outputTokens / 2;
  const prompts = (one: EngineCapacity | undefined): number =>
    one === undefined
      ? 0
      : (requestsPerSecond * promptTokens) / one.promptTokensPerSecond(promptTokens);
  const outputs = (one: EngineCapacity | undefined): number =>
    one === undefined
      ? 0
      : (requestsPerSecond * outputTokens) / one.outputTokensPerSecond(itlSeconds, context);
  const { prefill, decode, aggregated } = capacities;
  return {
    prefill: prompts(prefill),
    decode: outputs(decode),
    aggregated: prompts(aggregated) + outputs(aggregated),
  };
}
