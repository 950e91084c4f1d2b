import { windowOf } from './attention-window';
import { CheckpointConfig } from './checkpoint-config';
import { precisionFromConfig } from './checkpoint-precision';
import type {
  GroupedAttention,
  LatentAttention,
  MixtureOfExperts,
  ModelGeometry,
} from './model-geometry';
import { NVFP4_LAYERS } from './nvfp4-layers';
import { checkUnknownFields } from './unknown-fields';
import { refuseUnknownExperts, refuseUnsimulated } from './unsimulated-family';

/** Families that normalise queries and keys, per head and over all heads, unless a field says. */
const QK_NORM = /^(qwen3|qwen3_moe|gemma3|gemma3_text|glm4_moe)$/;
/** vLLM keeps the router in 32 bits (`params_dtype=torch.float32` of `gate`). */
const ROUTER_FLOAT32 = /^minimax_m2$/;
const QK_NORM_ACROSS = /^(minimax_m2|olmo2)$/;
const UNGATED = /^(opt|gpt2|gpt_neox|falcon|phi|starcoder2)$/;

/**
 * The geometry in a parsed Hugging Face `config.json`. The formats of numbers come from its
 * `quantization_config`.
 *
 * @param name  of the model in errors and results
 * @param accepted  fields that may be ignored although their names concern the shape
 * @throws HardwareError `bad-config`, with the missing field, the reason why the family is not
 * simulated, or the fields that are not
 */
export function geometryFromConfig(
  content: unknown,
  name: string,
  accepted: readonly string[] = [],
): ModelGeometry {
  const config = new CheckpointConfig(name, content);
  const type = config.text('model_type') ?? '';
  refuseUnsimulated(config);
  const layers = config.count('num_hidden_layers', 'n_layer');
  const experts = expertsOf(config, layers);
  const geometry: ModelGeometry = {
    name,
    aliases: [],
    layers,
    hidden: config.count('hidden_size', 'n_embd'),
    heads: config.count('num_attention_heads', 'n_head'),
    attention: attentionOf(config, layers),
    intermediate: config.count(...INTERMEDIATE.slice(experts ? 0 : 1)),
    feedForwardMatrices: UNGATED.test(type) ? 2 : 3,
    vocabulary: config.count('vocab_size'),
    tiedEmbeddings: config.isTrue('tie_word_embeddings'),
    precision: precisionFromConfig(config, { layers, experts }),
    maxContext: config.count('max_position_embeddings', 'n_positions'),
    ...(normalises(config, type) ? { qkNorm: true } : {}),
    ...(QK_NORM_ACROSS.test(type) ? { qkNorm: 'across heads' } : {}),
    ...(experts ? { experts } : {}),
    ...(NVFP4_LAYERS[type] ? { nvfp4Layers: NVFP4_LAYERS[type] } : {}),
  };
  const unusedFields = checkUnknownFields(config, accepted);
  return { ...geometry, ...(unusedFields.length > 0 ? { unusedFields } : {}) };
}

function normalises(config: CheckpointConfig, type: string): boolean {
  return QK_NORM.test(type) && (!config.has('use_qk_norm') || config.isTrue('use_qk_norm'));
}

/** Llama 4 has a separate width for layers without experts. */
const INTERMEDIATE = ['intermediate_size_mlp', 'intermediate_size', 'ffn_dim', 'n_inner'] as const;

/** Fields that only latent attention has. */
const LATENT = ['kv_lora_rank', 'qk_rope_head_dim', 'qk_nope_head_dim'] as const;

function attentionOf(config: CheckpointConfig, layers: number): GroupedAttention | LatentAttention {
  if (LATENT.some((name) => config.has(name))) return latentOf(config);
  const heads = config.count('num_attention_heads', 'n_head');
  const window = windowOf(config, layers);
  const headDim = config.optionalCount('head_dim') ?? config.count('hidden_size', 'n_embd') / heads;
  const valueDim = config.optionalCount('v_head_dim') ?? headDim;
  if (valueDim !== headDim) {
    throw config.unusable(
      `has values ('v_head_dim' ${valueDim}) of another width than keys (${headDim}), ` +
        'not simulated',
    );
  }
  return {
    kind: 'grouped',
    kvHeads: config.optionalCount('num_key_value_heads') ?? heads,
    headDim,
    ...(window ? { slidingWindow: window } : {}),
  };
}

function latentOf(config: CheckpointConfig): LatentAttention {
  // Kept for other programs; the ranks decide.
  config.understand('num_key_value_heads', 'head_dim', 'qk_head_dim');
  return {
    kind: 'latent',
    queryRank: config.isNull('q_lora_rank') ? 0 : config.count('q_lora_rank'),
    kvRank: config.count('kv_lora_rank'),
    nopeDim: config.count('qk_nope_head_dim'),
    ropeDim: config.count('qk_rope_head_dim'),
    valueDim: config.count('v_head_dim'),
  };
}

const EXPERTS = [
  'num_local_experts',
  'n_routed_experts',
  'num_experts',
  'moe_num_experts',
] as const;
const ACTIVE = ['num_experts_per_tok', 'num_experts_per_token', 'moe_topk', 'moe_k'] as const;

function expertsOf(config: CheckpointConfig, layers: number): MixtureOfExperts | undefined {
  const experts = config.optionalCount(...EXPERTS);
  if (experts === undefined) refuseUnknownExperts(config);
  if (experts === undefined || experts <= 1) return undefined;
  const isLlama4 = config.has('intermediate_size_mlp');
  const step = config.optionalCount('interleave_moe_layer_step', 'decoder_sparse_step') ?? 1;
  const interleaved = step > 1 ? layers - Math.floor(layers / step) : 0;
  const expertIntermediate = expertIntermediateOf(config);
  const denseLayers =
    config.optionalCount('first_k_dense_replace', 'moe_layer_start_index') ??
    zerosIn(config.list('moe_layer_freq')) ??
    interleaved;
  checkDenseLayers(config, { layers, denseLayers, step });
  return {
    experts,
    activeExperts: config.count(...ACTIVE),
    sharedExperts: sharedExpertsOf(config, expertIntermediate) ?? (isLlama4 ? 1 : 0),
    expertIntermediate,
    denseLayers,
    ...(ROUTER_FLOAT32.test(config.text('model_type') ?? '') ? { isRouterFloat32: true } : {}),
  };
}

/** Refuses lists of layers with experts that contradict the number of layers without. */
function checkDenseLayers(
  config: CheckpointConfig,
  given: { readonly layers: number; readonly denseLayers: number; readonly step: number },
): void {
  const { layers, denseLayers, step } = given;
  const dense: Readonly<Record<string, number | undefined>> = {
    moe_layer_freq: zerosIn(config.list('moe_layer_freq')),
    mlp_layer_types: config.list('mlp_layer_types')?.filter((one) => one === 'dense').length,
    moe_layers: countOf(config, 'moe_layers', (all) => layers - all),
    mlp_only_layers: countOf(config, 'mlp_only_layers', (all) => (step > 1 ? denseLayers : all)),
  };
  for (const [name, count] of Object.entries(dense)) {
    if (count === undefined || count === denseLayers) continue;
    throw config.unusable(
      `has ${count} layers without experts by '${name}' and ${denseLayers} by its other fields`,
    );
  }
  const frequency = config.list('moe_layer_freq') ?? config.optionalCount('moe_layer_freq') ?? 1;
  if (typeof frequency === 'number' && frequency !== 1) {
    throw config.unusable(`has experts in one of ${frequency} layers ('moe_layer_freq')`);
  }
}

function zerosIn(list: readonly unknown[] | undefined): number | undefined {
  return list?.filter((one) => one === 0).length;
}

/** Undefined for a list that is absent or empty. */
function countOf(
  config: CheckpointConfig,
  name: string,
  denseOf: (all: number) => number,
): number | undefined {
  const all = config.list(name)?.length ?? 0;
  return all === 0 ? undefined : denseOf(all);
}

/** Experts of these families are narrower than the dense layers that `intermediate_size` is for. */
function expertIntermediateOf(config: CheckpointConfig): number {
  const type = config.text('model_type') ?? '';
  const isOwn = config.has('n_routed_experts') || /^qwen\d_moe$/.test(type);
  return config.count('moe_intermediate_size', ...(isOwn ? [] : ['intermediate_size']));
}

/** Qwen2's one shared expert is as wide as several routed ones. */
function sharedExpertsOf(config: CheckpointConfig, expertIntermediate: number): number | undefined {
  const width = config.optionalCount('shared_expert_intermediate_size');
  if (width !== undefined) return width / expertIntermediate;
  return config.optionalCount('n_shared_experts', 'moe_num_shared_experts', 'num_shared_experts');
}
