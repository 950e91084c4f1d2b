import type { CheckpointConfig } from './checkpoint-config';

/** Parts of names of fields that can change the shape of attention, KV, state or experts. */
const SHAPES = anyOf(
  ...['att', 'query', 'key', 'value', 'head', 'layer', 'depth', 'rank', 'mla', 'cla_', '_cla'],
  ...['window', 'slid', 'swa', 'chunk', 'block', 'full', 'spars', 'index', 'nsa', 'dsa'],
  ...['linear', 'conv', 'ssm', 'mamba', 'state', 'recur', 'lru', 'delta', 'kda', 'gla'],
  ...['retention', 'lightning', 'kv', 'cache', 'shar', 'compress', 'memor'],
  ...['expert', 'moe', 'rout', 'top_?k', 'group'],
  ...['hybrid', 'interleav', 'interval', 'pattern', 'period'],
);

/**
 * Parts of names of fields that do not: training, norms, activations, positions, other inputs, and
 * the layers that predict further tokens, which vLLM loads only for speculation.
 */
const NO_SHAPES = anyOf(
  ...['drop', 'init', '_std', 'noise', 'jitter', 'gradient', 'loss', 'aux', 'coef', 'prune'],
  ...['_eps', 'epsilon', 'norm', 'bias', 'act$', '_act_', 'activation', 'softcap', 'logit'],
  ...['scal', 'multiplier', 'temperature', 'rope', 'rotary', 'limit$', 'fused', 'dtype'],
  ...['_ids?$', '_token$', '_token_', 'token_i', 'tokens_per', 'per_token', '_prob', 'scoring'],
  ...['tie_', 'tied', 'label', 'return', 'arch', 'version', 'transformers', '^_', 'parallel'],
  ...['implementation', 'quantiz', 'capacity_factor', 'mtp', 'nextn'],
  ...['vision', 'visual', 'image', 'video', 'audio', 'speech', 'mm_', 'multimodal', 'projector'],
);

/** Fields without a part of the above that are known to leave the shape as it is. */
const HARMLESS = new Set([
  ...['use_cache', 'cache_implementation', 'keys_to_ignore_at_inference', 'pretraining_tp'],
  // Choose among the experts; they compute the same number of them.
  ...['n_group', 'topk_group', 'topk_method', 'router_dtype', 'route_scale', 'moe_layer_start'],
  ...['clip_qkv', 'scale_attn_by_inverse_layer_idx', 'moe_layer_end_index', 'moe_capacity'],
  ...['chunk_size_feed_forward', 'cross_attention_hidden_size', 'add_cross_attention'],
  ...['is_encoder_decoder', 'encoder_no_repeat_ngram_size', 'task_specific_params', 'n_ctx'],
  ...['max_length', 'min_length', 'top_k', 'diversity_penalty', 'num_beam_groups'],
  ...['use_qk_norm', 'qk_layernorm', 'use_sliding_window', 'attn_output_gate', 'is_decoder'],
]);

/**
 * Refuses a field that Baton has not read and whose name concerns attention, layers, heads,
 * windows, recurrent state, KV or experts, unless it is off (null, false, 0, empty) or accepted.
 * What would otherwise be simulated as a model of another shape is refused by its fields, not by
 * the names of families.
 *
 * @param accepted  names of fields that the user has looked at
 * @returns the other fields that were not read, in the order of the file
 * @throws HardwareError `bad-config` with the names of the fields
 */
export function checkUnknownFields(
  config: CheckpointConfig,
  accepted: readonly string[],
): readonly string[] {
  const unread = config.unreadFields().filter((name) => !accepted.includes(name));
  const shaping = unread.filter((name) => concernsShape(name) && !config.isOff(name));
  if (shaping.length === 0) return unread.filter((name) => !HARMLESS.has(name));
  const fields = shaping.map((name) => `'${name}'`).join(', ');
  throw config.unusable(
    `has ${fields}, which Baton does not simulate and which can change attention, KV or experts; ` +
      `if ${shaping.length > 1 ? 'they do not' : 'it does not'}, add ` +
      `${shaping.map((name) => `--accept-unknown-config ${name}`).join(' ')}`,
  );
}

function concernsShape(name: string): boolean {
  return SHAPES.test(name) && !NO_SHAPES.test(name) && !HARMLESS.has(name);
}

function anyOf(...parts: readonly string[]): RegExp {
  return new RegExp(parts.join('|'), 'i');
}
