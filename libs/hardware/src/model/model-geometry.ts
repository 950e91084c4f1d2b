import type { Named } from '../find-by-name';
import {
  attentionFormat,
  attentionOutputFormat,
  KV_CACHE_BYTES,
  linearFormat,
  type Precision,
  WEIGHT_BYTES,
} from './precision';

/** Grouped-query attention; multi-head when kvHeads = heads. */
export interface GroupedAttention {
  readonly kind: 'grouped';
  readonly kvHeads: number;
  readonly headDim: number;
  /** Present when some layers attend only to the last tokens. */
  readonly slidingWindow?: SlidingWindow;
}

export interface SlidingWindow {
  /** Tokens that those layers attend to, the newest included. */
  readonly tokens: number;
  readonly layers: number;
  /**
   * They attend to the tokens since the last multiple of `tokens` (chunked local attention). Unset:
   * to the last `tokens`.
   */
  readonly isChunked?: boolean;
  /** True when windowed layers keep the KV of the whole context. Unset: only of their window. */
  readonly keepsAll?: boolean;
}

/**
 * DeepSeek's multi-head latent attention: KV holds one latent vector per token, shared by all
 * heads.
 */
export interface LatentAttention {
  readonly kind: 'latent';
  /** 0: queries are not projected down first, as in DeepSeek-V2-Lite. */
  readonly queryRank: number;
  readonly kvRank: number;
  readonly nopeDim: number;
  readonly ropeDim: number;
  readonly valueDim: number;
}

export interface MixtureOfExperts {
  readonly experts: number;
  /** Routed experts per token. */
  readonly activeExperts: number;
  /** Experts that every token passes, of the same size. */
  readonly sharedExperts: number;
  readonly expertIntermediate: number;
  /** Leading layers that have the dense feed-forward instead. */
  readonly denseLayers: number;
  /** The router's weights and its product are kept in 32 bits. Unset: in 16. */
  readonly isRouterFloat32?: boolean;
}

/**
 * The shape of a decoder-only transformer, from its published configuration. Widths are in
 * elements.
 */
export interface ModelGeometry extends Named {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly attention: GroupedAttention | LatentAttention;
  /** Width of the dense feed-forward (of `denseLayers` in a mixture). */
  readonly intermediate: number;
  /** Matrices of one feed-forward: 3 when gated (SwiGLU), 2 when not. */
  readonly feedForwardMatrices: 2 | 3;
  readonly experts?: MixtureOfExperts;
  readonly vocabulary: number;
  readonly tiedEmbeddings: boolean;
  /** Queries and keys are normalised before attention: per head, or over all heads of all GPUs. */
  readonly qkNorm?: boolean | 'across heads';
  /** The format in which it is served; by default that of the published checkpoint. */
  readonly precision: Precision;
  /**
   * The layers that are in other formats in its published NVFP4 checkpoint. Unset when all layers
   * have the same.
   */
  readonly nvfp4Layers?: Omit<Partial<Precision>, 'kvCache' | 'experts'>;
  readonly maxContext: number;
  /** Fields of its `config.json` that nothing has read. Unset: none. */
  readonly unusedFields?: readonly string[];
  /**
   * The part of the model in this pipeline stage: the first has the embedding, the last the output
   * head, and the embedding too where both are tied. Unset: the whole model.
   */
  readonly stage?: 'first' | 'middle' | 'last';
}

/** Bytes of one element of the KV cache. */
export function kvElementBytes({ precision }: ModelGeometry): number {
  return KV_CACHE_BYTES[precision.kvCache];
}

/** Parameters that one layer's attention has. */
export function attentionParameters(model: ModelGeometry): number {
  const { hidden, heads, attention } = model;
  if (attention.kind === 'grouped') {
    return hidden * attention.headDim * (2 * heads + 2 * attention.kvHeads);
  }
  const { queryRank, kvRank, nopeDim, ropeDim, valueDim } = attention;
  const queries = heads * (nopeDim + ropeDim);
  const query = queryRank === 0 ? hidden * queries : (hidden + queries) * queryRank;
  const keyValue = hidden * (kvRank + ropeDim) + kvRank * heads * (nopeDim + valueDim);
  return query + keyValue + heads * valueDim * hidden;
}

/** Parameters of the projection behind one layer's attention. */
export function attentionOutputParameters({ hidden, heads, attention }: ModelGeometry): number {
  const width = attention.kind === 'grouped' ? attention.headDim : attention.valueDim;
  return heads * width * hidden;
}

/**
 * Bytes of one weight of attention, the mean of the projections into and behind it.
 */
export function attentionWeightBytes(model: ModelGeometry): number {
  const outputShare = attentionOutputParameters(model) / attentionParameters(model);
  const { precision } = model;
  return (
    (1 - outputShare) * WEIGHT_BYTES[attentionFormat(precision)] +
    outputShare * WEIGHT_BYTES[attentionOutputFormat(precision)]
  );
}

/** Parameters of one routed or shared expert. */
export function expertParameters(model: ModelGeometry): number {
  if (!model.experts) return 0;
  return model.feedForwardMatrices * model.hidden * model.experts.expertIntermediate;
}

/** Layers with experts. */
export function expertLayers(model: ModelGeometry): number {
  return model.experts ? model.layers - model.experts.denseLayers : 0;
}

export function hasEmbedding({ stage }: ModelGeometry): boolean {
  return stage === undefined || stage === 'first';
}

export function hasOutputHead({ stage }: ModelGeometry): boolean {
  return stage === undefined || stage === 'last';
}

/** Number of stored sides of the vocabulary: embedding and output head may be tied. */
export function vocabularySides({ stage, tiedEmbeddings }: ModelGeometry): number {
  if (stage !== undefined) return stage === 'middle' ? 0 : 1;
  return tiedEmbeddings ? 1 : 2;
}

/** Parameters of one side of the vocabulary: the embedding, or the output head. */
export function vocabularyParameters(model: ModelGeometry): number {
  return model.vocabulary * model.hidden;
}

/**
 * Parameters that every token passes in all layers: attention, dense feed-forward, shared experts,
 * router.
 */
export function sharedLayerParameters(model: ModelGeometry): number {
  const { layers, hidden, feedForwardMatrices, intermediate, experts } = model;
  const denseLayers = layers - expertLayers(model);
  const dense = denseLayers * feedForwardMatrices * hidden * intermediate;
  const shared = experts
    ? expertLayers(model) *
      (experts.sharedExperts * expertParameters(model) + hidden * experts.experts)
    : 0;
  return layers * attentionParameters(model) + dense + shared;
}

/** Parameters of all routed experts together. */
export function routedParameters(model: ModelGeometry): number {
  return expertLayers(model) * (model.experts?.experts ?? 0) * expertParameters(model);
}

/** All parameters, without biases and norms (below 0.1 %). */
export function parameterCount(model: ModelGeometry): number {
  const vocabulary = vocabularyParameters(model) * vocabularySides(model);
  return sharedLayerParameters(model) + routedParameters(model) + vocabulary;
}

/** Parameters that one token passes: the "active" count of a checkpoint, with the vocabulary. */
export function activeParameterCount(model: ModelGeometry): number {
  const routed =
    expertLayers(model) * (model.experts?.activeExperts ?? 0) * expertParameters(model);
  const vocabulary = vocabularyParameters(model) * vocabularySides(model);
  return sharedLayerParameters(model) + routed + vocabulary;
}

/**
 * Mean bytes of one weight. Routed experts have a separate format, and the vocabulary stays in
 * BF16.
 */
export function meanWeightBytes(model: ModelGeometry): number {
  const routed = routedParameters(model);
  const attention = model.layers * attentionParameters(model);
  const linear = sharedLayerParameters(model) - routerParameters(model) - attention;
  const all = parameterCount(model);
  const plain = all - routed - linear - attention;
  const bytes =
    attention * attentionWeightBytes(model) +
    linear * WEIGHT_BYTES[linearFormat(model.precision)] +
    routed * WEIGHT_BYTES[model.precision.experts] +
    plain * WEIGHT_BYTES.bf16;
  return bytes / all;
}

/** Parameters of the routers, which stay in BF16. */
export function routerParameters(model: ModelGeometry): number {
  return expertLayers(model) * model.hidden * (model.experts?.experts ?? 0);
}
