import type { CheckpointConfig } from './checkpoint-config';
import type { SlidingWindow } from './model-geometry';

/** Fields that say which layers have the window; the first that is there decides. */
const PATTERNS = [
  ...['layer_types', 'no_rope_layers', 'sliding_window_pattern', 'no_rope_layer_interval'],
  ...['layer_switch', 'max_window_layers', 'use_sliding_window'],
] as const;

/**
 * The window of attention and the number of layers that have it. A window that is switched off
 * does not count.
 */
export function windowOf(config: CheckpointConfig, layers: number): SlidingWindow | undefined {
  const tokens = config.optionalCount('sliding_window', 'attention_chunk_size');
  config.understand(...PATTERNS);
  const isOff = config.has('use_sliding_window') && !config.isTrue('use_sliding_window');
  if (tokens === undefined || tokens === 0 || isOff) return undefined;
  const isChunked = config.optionalCount('sliding_window') === undefined;
  const bounded = boundedLayers(config, layers);
  if (bounded === 0) return undefined;
  return { tokens, layers: bounded, ...(isChunked ? { isChunked } : {}) };
}

/**
 * By the list of layer types, else by Llama 4's list of layers with RoPE, else by the pattern, else
 * all layers from Qwen's `max_window_layers` on.
 */
function boundedLayers(config: CheckpointConfig, layers: number): number {
  const types = config.list('layer_types');
  if (types !== undefined) return types.filter((type) => type !== 'full_attention').length;
  const rope = config.list('no_rope_layers') ?? [];
  if (rope.length > 0) return rope.slice(0, layers).filter((one) => one === 1).length;
  const every = config.optionalCount(
    'sliding_window_pattern',
    'no_rope_layer_interval',
    'layer_switch',
  );
  if (every) return layers - Math.floor(layers / every);
  return Math.max(0, layers - (config.optionalCount('max_window_layers') ?? 0));
}
