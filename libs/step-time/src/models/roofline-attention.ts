import { type EnginePlacement, kvElementBytes, type ModelGeometry } from '@baton/hardware';
import type { BatchAggregates } from '../port/step-time-model';

/** Attention of a step, the larger of computing and reading in each part. */
export interface AttentionCost {
  readonly decodeUsPerContext: number;
  /** Layers with a sliding window: they read one window, however long the context. */
  readonly decodeUsPerSeq: number;
  /**
   * The factor on decode attention with this many query tokens per sequence instead of one: they
   * read the same KV, and each computes.
   */
  decodeGrowth(queryTokens: number): number;
  prefillUs(batch: BatchAggregates): number;
}

/** The cost of one layer's attention on one GPU. */
export interface LayerCost {
  readonly kvBytesPerToken: number;
  /** Per (query token, context token) pair in decode, and in prefill. */
  readonly decodeFlopsPerPair: number;
  readonly prefillFlopsPerPair: number;
}

/**
 * Decode pairs each sequence's one token with its whole context. Prefill pairs a chunk of n tokens
 * after p others with p · n + n² / 2 tokens, which is half of (p + n)² − p²; it reads the KV of
 * context and chunk once. Scores and values each cost two operations per pair and width.
 */
export function attentionCostOf({ model, gpu, tp }: EnginePlacement): AttentionCost {
  const usPerFlop = 1e6 / (gpu.flopsPerSecond * gpu.efficiency.attentionCompute);
  const usPerByte = 1e6 / (gpu.memoryBytesPerSecond * gpu.efficiency.memory);
  const cost = layerCostOf(model, tp);
  const window = model.attention.kind === 'grouped' ? model.attention.slidingWindow : undefined;
  const windowTokens = window?.tokens ?? 0;
  const windowLayers = window?.layers ?? 0;
  const fullLayers = model.layers - windowLayers;
  const readUs = cost.kvBytesPerToken * usPerByte;
  const computeUs = cost.decodeFlopsPerPair * usPerFlop;
  const decodeUs = Math.max(readUs, computeUs);
  const pairUs = cost.prefillFlopsPerPair * usPerFlop;

  return {
    decodeUsPerContext: fullLayers * decodeUs,
    decodeUsPerSeq: windowLayers * windowTokens * decodeUs,
    decodeGrowth(queryTokens) {
      return Math.max(readUs, queryTokens * computeUs) / decodeUs;
    },
    prefillUs(batch) {
      const pairs = batch.prefillQuadratic / 2;
      const tokens = batch.prefillContext + batch.prefillTokens;
      const fullUs = Math.max(pairs * pairUs, tokens * readUs);
      if (windowLayers === 0) return fullLayers * fullUs;
      const windowPairs = Math.min(pairs, batch.prefillTokens * windowTokens);
      const windowUs = Math.max(windowPairs * pairUs, batch.prefillTokens * readUs);
      return fullLayers * fullUs + windowLayers * windowUs;
    },
  };
}

export function layerCostOf(model: ModelGeometry, tp: number): LayerCost {
  const { attention, heads } = model;
  const elementBytes = kvElementBytes(model);
  const ownHeads = heads / tp;
  if (attention.kind === 'grouped') {
    const flopsPerPair = 4 * ownHeads * attention.headDim;
    return {
      kvBytesPerToken: 2 * Math.max(1, attention.kvHeads / tp) * attention.headDim * elementBytes,
      decodeFlopsPerPair: flopsPerPair,
      prefillFlopsPerPair: flopsPerPair,
    };
  }
  const { kvRank, nopeDim, ropeDim, valueDim } = attention;
  return {
    kvBytesPerToken: (kvRank + ropeDim) * elementBytes,
    // Decode works on the latent vectors themselves (the projections are absorbed), prefill on the
    // heads' own keys and values.
    decodeFlopsPerPair: 2 * ownHeads * (kvRank + ropeDim + kvRank),
    prefillFlopsPerPair: 2 * ownHeads * (nopeDim + ropeDim + valueDim),
  };
}
