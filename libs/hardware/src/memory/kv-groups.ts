import { kvElementBytes, type ModelGeometry, type SlidingWindow } from '../model/model-geometry';

/** Layers with equal KV, in groups of one size. */
export interface KvLayerGroups {
  /** Groups that keep the whole context. */
  readonly full: number;
  /** Groups that keep a window. */
  readonly windowed: number;
  readonly windowTokens: number;
  readonly isChunked: boolean;
}

/** Below this ratio of the counts of layers, groups take the larger count. */
const NEARLY_EQUAL = 1.5;

/**
 * The groups of layers that have KV blocks of their own, undefined when all layers keep the same.
 * As vLLM's `_get_kv_cache_groups_uniform_page_size` (vllm/v1/core/kv_cache_utils.py): groups have
 * as many layers as there are of the rarer kind, or of the other kind when that is below 1.5 times
 * as many; the last group of a kind is padded. If all layers of a model have a window, all are
 * assumed to keep the whole context.
 */
export function kvGroupsOf(model: ModelGeometry): KvLayerGroups | undefined {
  const window = windowOf(model);
  if (window === undefined) return undefined;
  const fullLayers = model.layers - window.layers;
  const fewer = Math.min(fullLayers, window.layers);
  const more = Math.max(fullLayers, window.layers);
  const layers = more < fewer * NEARLY_EQUAL ? more : fewer;
  return {
    full: Math.ceil(fullLayers / layers),
    windowed: Math.ceil(window.layers / layers),
    windowTokens: window.tokens,
    isChunked: window.isChunked === true,
  };
}

/**
 * Layers whose KV one block holds: those of the largest group.
 *
 * @param groups  of the whole model, when `model` is a pipeline stage of it
 */
export function layersPerBlock(model: ModelGeometry, groups = kvGroupsOf(model)): number {
  const window = windowOf(model);
  if (groups === undefined || window === undefined) return model.layers;
  const full = Math.ceil((model.layers - window.layers) / groups.full);
  return Math.max(full, Math.ceil(window.layers / groups.windowed));
}

/**
 * Bytes of KV per token of context, in all layers that keep the whole context: `2 · layers ·
 * kv_heads · head_dim · 2 B`, or for latent attention `layers · (kv_rank + rope_dim) · 2 B`. The KV
 * of layers with a sliding window does not grow with the context.
 *
 * @param tp Unset: each KV head counts once, as in the total of a transfer. Set: bytes on one GPU,
 *   which is 1/tp, but at least one KV head, and latent vectors whole. Ranks transfer side by side,
 *   each over its own port.
 */
export function kvBytesPerToken(model: ModelGeometry, tp = 1): number {
  return (model.layers - (windowOf(model)?.layers ?? 0)) * kvBytesPerLayer(model, tp);
}

/** Bytes of a KV block of one group of layers on one GPU of `tp`. */
export function kvBytesPerBlock(model: ModelGeometry, tp: number, blockSize: number): number {
  return layersPerBlock(model) * kvBytesPerLayer(model, tp) * blockSize;
}

/** Bytes of KV of one token in one layer, counted as `kvBytesPerToken` does. */
export function kvBytesPerLayer(model: ModelGeometry, tp: number): number {
  const { attention } = model;
  const bytes = kvElementBytes(model);
  if (attention.kind === 'latent') return (attention.kvRank + attention.ropeDim) * bytes;
  return 2 * Math.max(1, attention.kvHeads / tp) * attention.headDim * bytes;
}

/** The window of layers that free KV outside it, in a model with other layers too. */
function windowOf({ attention, layers, stage }: ModelGeometry): SlidingWindow | undefined {
  if (attention.kind === 'latent') return undefined;
  const { slidingWindow: window } = attention;
  if (window === undefined || window.keepsAll === true || window.layers === 0) return undefined;
  return window.layers === layers && stage === undefined ? undefined : window;
}
