import type { CheckpointConfig } from './checkpoint-config';

/** Model types with state-space, linear or convolutional layers, without measured times. */
const HYBRID = new RegExp(
  'mamba|jamba|falcon_h1|nemotron_h|qwen3_next|qwen3_5|granitemoehybrid|rwkv|zamba|bamba|plamo2|' +
    'lfm2|kimi_linear|^minimax(_m1|_text_01)?$',
);
/** Kinds of attention layers that are simulated, as `layer_types` names them. */
const LAYER_TYPES = ['full_attention', 'sliding_attention', 'chunked_attention', 'attention'];
/** Fields that only a mixture of experts has. */
const ROUTING = ['moe_intermediate_size', 'num_experts_per_tok', 'moe_k'] as const;

/**
 * Refuses what would otherwise be simulated as a model of another shape.
 *
 * @throws HardwareError `bad-config` with the reason
 */
export function refuseUnsimulated(config: CheckpointConfig): void {
  const type = config.text('model_type') ?? '';
  if (HYBRID.test(type) || config.has('layers_block_type')) {
    throw config.unusable(
      `is a hybrid (${type}) of attention and state-space layers, not simulated`,
    );
  }
  const other = config.list('layer_types')?.find((one) => !LAYER_TYPES.includes(String(one)));
  if (other !== undefined) {
    throw config.unusable(`has layers of type '${String(other)}', not simulated`);
  }
  const kind = config.list('attn_type_list')?.find((one) => one !== 1);
  if (kind !== undefined) {
    throw config.unusable(`has layers of type ${String(kind)} in 'attn_type_list', not simulated`);
  }
  if (config.has('index_topk')) {
    throw config.unusable("has sparse attention ('index_topk'), not simulated");
  }
  if (config.has('block_configs')) {
    throw config.unusable("has layers of several shapes ('block_configs'), not simulated");
  }
}

/**
 * Refuses a mixture of experts whose number of experts has a name that is not known.
 *
 * @throws HardwareError `bad-config`, which names the field that gives it away
 */
export function refuseUnknownExperts(config: CheckpointConfig): void {
  const field = ROUTING.find((name) => (config.optionalCount(name) ?? 0) > 0);
  if (field !== undefined) {
    throw config.unusable(`has '${field}' but no number of experts under a known name`);
  }
}
