import { usToSeconds } from '@baton/kernel';
import type { Topology } from '@baton/placement';
import { forEstimates, prefillUs, type StepTimeModel } from '@baton/step-time';

/** The facts on which the capacity of an engine depends. */
export interface CapacityFacts {
  readonly stepTime: StepTimeModel;
  readonly maxNumBatchedTokens: number;
  readonly maxNumSeqs: number;
  /** Tokens of KV that it holds. */
  readonly kvTokens: number;
}

/** Mean requests of a time span. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/**
 * The capacity of one engine by its step times, without a queue and without cached prompts;
 * Dynamo's planner interpolates the same from profiles.
 */
export class EngineCapacity {
  private readonly facts: CapacityFacts;

  constructor(facts: CapacityFacts) {
    this.facts = { ...facts, stepTime: forEstimates(facts.stepTime) };
  }

  /** Time of a prompt alone in the engine, seconds. */
  ttftSeconds(promptTokens: number): number {
    return usToSeconds(this.promptUs(promptTokens));
  }

  /** Rate with steps full of such prompts. */
  promptTokensPerSecond(promptTokens: number): number {
    const { stepTime, maxNumBatchedTokens } = this.facts;
    const tokens = wholeTokens(promptTokens);
    const prompts = Math.max(1, Math.floor(maxNumBatchedTokens / tokens));
    if (prompts === 1) return tokens / usToSeconds(this.promptUs(tokens));
    const us = stepTime.stepUs({
      prefillTokens: prompts * tokens,
      prefillSeqs: prompts,
      prefillQuadratic: prompts * tokens * tokens,
      ...{ prefillContext: 0, decodeSeqs: 0, decodeContext: 0, kvUsage: 0 },
    });
    return (prompts * tokens) / usToSeconds(us);
  }

  /** Duration of a step of this many sequences with this context each. */
  itlSeconds(sequences: number, contextTokens: number): number {
    const us = this.facts.stepTime.stepUs({
      ...{ prefillTokens: 0, prefillSeqs: 0, prefillQuadratic: 0, prefillContext: 0 },
      decodeSeqs: Math.round(sequences),
      decodeContext: Math.round(sequences * contextTokens),
      kvUsage: 0,
    });
    return usToSeconds(us);
  }

  /**
   * The highest rate of tokens whose gaps keep the objective; that of one sequence if none does.
   */
  outputTokensPerSecond(itlSeconds: number, contextTokens: number): number {
    const sequences = this.sequencesWithin(itlSeconds, contextTokens);
    return sequences / this.itlSeconds(sequences, contextTokens);
  }

  /** The largest batch whose gaps keep the objective and whose KV fits, at least 1. */
  sequencesWithin(itlSeconds: number, contextTokens: number): number {
    let low = 1;
    let high = this.mostSequences(contextTokens);
    // Blocks bound most batches before the gaps do.
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

/** Step times are of batches that exist. */
function wholeTokens(mean: number): number {
  return Math.max(1, Math.round(mean));
}

/** Capacities by role. Unset for roles without engines. */
export type Capacities = Readonly<Partial<Record<keyof Topology, EngineCapacity>>>;

/**
 * Engines that a load keeps busy, with fractions: prompt tokens per second over what a prefill
 * engine computes, output tokens per second over what a decode engine generates within the
 * objective; an aggregated engine does one after the other.
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
