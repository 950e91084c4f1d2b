import type { EngineOptions } from '@baton/engine';
import type { EngineRole } from '@baton/policies';
import { type BatchAggregates, forEstimates } from '@baton/step-time';
import { type Candidate, isAggregated } from './candidates';

/** The lengths of a mean request. */
export interface Demand {
  readonly promptTokens: number;
  /** Prompt tokens expected in a prefix cache. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

/** The engines of a candidate. */
export type Engines = (role: EngineRole) => EngineOptions;

/** Shares of their full rate that pools in series reach: AIConfigurator, sdk/picking.py. */
export const PREFILL_SHARE = 0.9;
export const DECODE_SHARE = 0.92;
const US_PER_SECOND = 1e6;

/**
 * Estimated requests per second of a candidate: the slower of its two pools, each with its engines'
 * full batches, `min(P · rate_p · 0.9, D · rate_d · 0.92)` (AIConfigurator's rate matching). An
 * estimate to start a search from; it ignores queues, bursts and transfers.
 *
 * @param tpotUs the SLO on the time per output token, by which decode batches are limited; Infinity
 *   = none
 */
export function matchRates(
  candidate: Candidate,
  engines: Engines,
  { demand, tpotUs }: { demand: Demand; tpotUs: number },
): number {
  const { topology } = candidate;
  if (isAggregated(candidate)) {
    return topology.aggregated * aggregatedRate(engines('aggregated'), demand, tpotUs);
  }
  const prefill = topology.prefill * prefillRate(engines('prefill'), demand) * PREFILL_SHARE;
  const decode = topology.decode * decodeRate(engines('decode'), demand, tpotUs) * DECODE_SHARE;
  return Math.min(prefill, decode);
}

/** Prompts per second of one engine whose steps are full. */
export function prefillRate(engine: EngineOptions, demand: Demand): number {
  return US_PER_SECOND / promptUs(engine, demand);
}

/**
 * Requests per second of one engine that decodes the largest batch which its KV, its slots and the
 * SLO allow.
 */
export function decodeRate(engine: EngineOptions, demand: Demand, tpotUs: number): number {
  const seqs = largestBatch(engine, demand, tpotUs);
  if (seqs === 0) return 0;
  const steps = Math.max(1, demand.outputTokens);
  return (US_PER_SECOND * seqs) / (steps * decodeUs(engine, demand, seqs));
}

/**
 * Requests per second of one engine that does both: a request's prompt, and its share of the steps
 * that it decodes in.
 */
export function aggregatedRate(engine: EngineOptions, demand: Demand, tpotUs: number): number {
  const seqs = largestBatch(engine, demand, tpotUs);
  if (seqs === 0) return 0;
  const decodes = (demand.outputTokens * decodeUs(engine, demand, seqs)) / seqs;
  return US_PER_SECOND / (promptUs(engine, demand) + decodes);
}

/** Time per prompt of an engine whose steps are full of such prompts, in all of its stages. */
function promptUs(engine: EngineOptions, { promptTokens, cachedTokens }: Demand): number {
  const tokens = Math.max(1, promptTokens - cachedTokens);
  const perStep = engine.maxNumBatchedTokens / tokens;
  const quadratic = promptTokens * promptTokens - cachedTokens * cachedTokens;
  const stepUs = forEstimates(engine.stepTime).stepUs({
    ...NOTHING,
    prefillTokens: engine.maxNumBatchedTokens,
    prefillSeqs: Math.max(1, perStep),
    prefillQuadratic: quadratic * perStep,
    prefillContext: cachedTokens * Math.max(1, perStep),
  });
  return stepUs / perStep / stagesOf(engine);
}

/** Time per token of `all` sequences. Each stage has a batch of its own, so a step has fewer. */
function decodeUs(engine: EngineOptions, demand: Demand, all: number): number {
  const context = demand.promptTokens + demand.outputTokens / 2;
  const seqs = Math.ceil(all / stagesOf(engine));
  return forEstimates(engine.stepTime).stepUs({
    ...NOTHING,
    decodeSeqs: seqs,
    decodeContext: Math.round(seqs * context),
    kvUsage: Math.min(1, (all * context) / (engine.numBlocks * engine.blockSize)),
  });
}

function stagesOf({ stepTime }: EngineOptions): number {
  return stepTime.pipeline?.stages ?? 1;
}

/** By bisection: step times rise with the batch. */
function largestBatch(engine: EngineOptions, demand: Demand, tpotUs: number): number {
  const kvTokens = engine.numBlocks * engine.blockSize;
  const byKv = Math.floor(kvTokens / (demand.promptTokens + demand.outputTokens / 2));
  let [fits, isTooMany] = [0, Math.min(engine.maxNumSeqs, byKv) + 1];
  while (isTooMany - fits > 1) {
    const middle = Math.floor((fits + isTooMany) / 2);
    if (decodeUs(engine, demand, middle) <= tpotUs) fits = middle;
    else isTooMany = middle;
  }
  return fits;
}

const NOTHING: BatchAggregates = {
  prefillTokens: 0,
  prefillSeqs: 0,
  prefillQuadratic: 0,
  prefillContext: 0,
  decodeSeqs: 0,
  decodeContext: 0,
  kvUsage: 0,
};
