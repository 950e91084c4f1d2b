import { isObject, type JsonFields } from '@baton/kernel';
import type { CheckpointConfig } from './checkpoint-config';
import type { MixtureOfExperts } from './model-geometry';
import { BF16, type Precision, type WeightFormat } from './precision';

/** The facts of a checkpoint in use: its layers, and the experts of some of them. */
interface Shape {
  readonly layers: number;
  readonly experts: MixtureOfExperts | undefined;
}

/** Lists of layers that stay in BF16, by the names of compressed-tensors, modelopt, AWQ and FP8. */
const LEFT_OUT = ['ignore', 'exclude_modules', 'modules_to_not_convert', 'ignored_layers'] as const;
/** Where models keep their layers, models of several modalities included. */
const ROOTS = ['model.layers', 'model.language_model.layers', 'language_model.model.layers'];

const ATTENTION = ['self_attn.q_b_proj', 'self_attn.q_proj', 'self_attn.qkv_proj'];
const ATTENTION_OUTPUT = ['self_attn.o_proj'];
const ROUTED = ['mlp.experts.0.up_proj', 'block_sparse_moe.experts.0.w1'];
const SHARED = ['mlp.shared_experts.up_proj', 'mlp.shared_expert.up_proj'];
const DENSE = ['mlp.up_proj'];

/**
 * Reads `quantization_config` as vLLM does: each kind of layer has the format of the checkpoint
 * unless a list leaves it in BF16. Layers of one kind are assumed to be alike; the one in the
 * middle of the model stands for all.
 *
 * @throws HardwareError `bad-config` for a method that is not simulated
 */
export function precisionFromConfig(config: CheckpointConfig, shape: Shape): Precision {
  const quantized = config.mapping('quantization_config');
  if (quantized === undefined) return BF16;
  const format = formatOf(config, quantized);
  const kvScheme = quantized['kv_cache_scheme'] ?? quantized['kv_cache_quant_algo'];
  const kvCache = kvScheme ? 'fp8' : 'bf16';
  // Only the experts are in four bits, whatever the list names.
  if (format === 'mxfp4') return { linear: format, experts: format, kvCache };
  const formatAt = (names: readonly string[], layer: number): WeightFormat =>
    isLeftOut(quantized, names, layer) ? 'bf16' : format;
  return { ...formatsOf(shape, formatAt), kvCache };
}

function formatsOf(
  { layers, experts }: Shape,
  formatAt: (names: readonly string[], layer: number) => WeightFormat,
): Omit<Precision, 'kvCache'> {
  const middle = Math.floor(layers / 2);
  const attention = formatAt(ATTENTION, middle);
  const output = formatAt(ATTENTION_OUTPUT, middle);
  const linear = experts ? besideExperts(experts) : formatAt(DENSE, middle);
  return {
    linear,
    experts: experts ? formatAt(ROUTED, middle) : linear,
    ...(attention === linear ? {} : { attention }),
    ...(output === attention ? {} : { attentionOutput: output }),
  };

  function besideExperts({ sharedExperts, denseLayers }: MixtureOfExperts): WeightFormat {
    if (sharedExperts > 0) return formatAt(SHARED, middle);
    return denseLayers > 0 ? formatAt(DENSE, 0) : attention;
  }
}

/** True when a list names one of the layers, by whichever name the model has for it. */
function isLeftOut(quantized: JsonFields, names: readonly string[], layer: number): boolean {
  const patterns = LEFT_OUT.flatMap((list) => {
    const listed = quantized[list];
    return Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : [];
  });
  const full = ROOTS.flatMap((root) => names.map((name) => `${root}.${layer}.${name}`));
  return patterns.some((pattern) => full.some((name) => matches(pattern, name)));
}

/** `re:` is a regular expression from the start, `*` is anything; else parts of the name. */
function matches(pattern: string, name: string): boolean {
  if (pattern.startsWith('re:')) return isMatch(`^(?:${pattern.slice(3)})`, name);
  if (pattern.includes('*')) {
    const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
    return isMatch(`^${escaped}$`, name);
  }
  return `.${name}.`.includes(`.${pattern}.`);
}

/** A pattern that JavaScript cannot read matches nothing. */
function isMatch(source: string, name: string): boolean {
  try {
    return new RegExp(source).test(name);
  } catch {
    return false;
  }
}

/** Groups of INT4 weights above this size count as groups of 128. */
const SMALL_GROUP = 32;

function formatOf(config: CheckpointConfig, quantized: JsonFields): WeightFormat {
  const text = JSON.stringify(quantized).toLowerCase();
  const method = String(quantized['quant_method'] ?? '').toLowerCase();
  if (method === 'mxfp4') return 'mxfp4';
  if (text.includes('nvfp4')) return 'nvfp4';
  if (isInt4(text, method)) return groupOf(quantized) <= SMALL_GROUP ? 'int4_group32' : 'int4';
  if (text.includes('weight_block_size":[')) return 'fp8_block';
  const isFp8 = text.includes('fp8') || text.includes('"type":"float"');
  if (isFp8) return isDynamic(text, method) ? 'fp8' : 'fp8_static';
  const bits = /"(?:num_bits|bits)":(\d+)/.exec(text)?.[1];
  const width = bits === undefined ? '' : ` with ${bits} bits`;
  throw config.unusable(`has a quantization_config of unknown method '${method}'${width}`);
}

/**
 * True when activations have no scale in the checkpoint: as compressed-tensors and as FP8 say it,
 * and always with fbgemm.
 */
function isDynamic(text: string, method: string): boolean {
  const says = text.includes('"dynamic":true') || text.includes('"activation_scheme":"dynamic"');
  return says || method === 'fbgemm_fp8';
}

function isInt4(text: string, method: string): boolean {
  if (method === 'awq' || method === 'gptq') return !/"(?:w_bit|bits)":[^4]/.test(text);
  return text.includes('"num_bits":4');
}

/** Weights that share a scale, as the first group of layers says. */
function groupOf(quantized: JsonFields): number {
  const groups = quantized['config_groups'];
  const [first] = isObject(groups) ? Object.values(groups) : [];
  const weights = isObject(first) ? first['weights'] : undefined;
  const size = isObject(weights) ? weights['group_size'] : quantized['group_size'];
  return typeof size === 'number' && size > 0 ? size : Infinity;
}
