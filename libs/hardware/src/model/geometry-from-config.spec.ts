import { describe, expect, it } from 'vitest';
import { findGpu } from '../gpu/gpu-catalogue';
import { geometryFromConfig } from './geometry-from-config';
import { findModel } from './model-catalogue';
import { meanWeightBytes, parameterCount } from './model-geometry';
import { type Quantization, servedIn } from './quantise';

const QWEN_3_8B = {
  model_type: 'qwen3',
  num_hidden_layers: 36,
  hidden_size: 4096,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 12_288,
  vocab_size: 151_936,
  max_position_embeddings: 40_960,
  tie_word_embeddings: false,
  sliding_window: null,
  use_sliding_window: false,
};

const DEEPSEEK_V3 = {
  model_type: 'deepseek_v3',
  num_hidden_layers: 61,
  hidden_size: 7168,
  num_attention_heads: 128,
  num_key_value_heads: 128,
  intermediate_size: 18_432,
  q_lora_rank: 1536,
  kv_lora_rank: 512,
  qk_nope_head_dim: 128,
  qk_rope_head_dim: 64,
  v_head_dim: 128,
  n_routed_experts: 256,
  num_experts_per_tok: 8,
  n_shared_experts: 1,
  moe_intermediate_size: 2048,
  first_k_dense_replace: 3,
  vocab_size: 129_280,
  max_position_embeddings: 163_840,
  tie_word_embeddings: false,
  quantization_config: { quant_method: 'fp8', fmt: 'e4m3', weight_block_size: [128, 128] },
};

/** The configuration as published; missing fields have the defaults of Transformers' class. */
const GEMMA_2_9B = {
  model_type: 'gemma2',
  num_hidden_layers: 42,
  hidden_size: 3584,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 256,
  intermediate_size: 14_336,
  vocab_size: 256_000,
  max_position_embeddings: 8192,
  sliding_window: 4096,
};

const GEMMA_3_4B = {
  model_type: 'gemma3',
  text_config: {
    model_type: 'gemma3_text',
    num_hidden_layers: 34,
    hidden_size: 2560,
    intermediate_size: 10_240,
    sliding_window: 1024,
  },
};

const GEMMA_3_12B = {
  model_type: 'gemma3',
  text_config: {
    model_type: 'gemma3_text',
    num_hidden_layers: 48,
    hidden_size: 3840,
    num_attention_heads: 16,
    num_key_value_heads: 8,
    intermediate_size: 15_360,
    sliding_window: 1024,
  },
};

const LLAMA_4_MAVERICK = {
  model_type: 'llama4',
  text_config: {
    model_type: 'llama4_text',
    num_hidden_layers: 48,
    hidden_size: 5120,
    num_attention_heads: 40,
    num_key_value_heads: 8,
    head_dim: 128,
    intermediate_size: 8192,
    intermediate_size_mlp: 16_384,
    vocab_size: 202_048,
    num_local_experts: 128,
    num_experts_per_tok: 1,
    interleave_moe_layer_step: 2,
    attention_chunk_size: 8192,
    no_rope_layers: [],
    max_position_embeddings: 1_048_576,
  },
};

const MOE_WIDTH = 'moe_intermediate_size';

const without = (config: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(config).filter(([name]) => !names.includes(name)));

describe('the geometry of a config.json', () => {
  it.each([
    ['qwen3-8b', QWEN_3_8B],
    ['deepseek-v3', DEEPSEEK_V3],
    ['gemma-2-9b', GEMMA_2_9B],
    ['gemma-3-4b', GEMMA_3_4B],
    ['gemma-3-12b', GEMMA_3_12B],
    ['llama-4-maverick-17b-128e', LLAMA_4_MAVERICK],
  ])('of %s is that of the catalogue', (name, config) => {
    const { aliases: _aliases, ...known } = findModel(name);
    expect(geometryFromConfig(config, name)).toEqual({ ...known, aliases: [] });
  });

  it('names the field that is missing', () => {
    const read = () => geometryFromConfig(without(QWEN_3_8B, 'hidden_size'), 'config.json');
    expect(read).toThrow("config.json cannot be used: it has no 'hidden_size' or 'n_embd'.");
  });

  it('names the field that is 0', () => {
    const read = () => geometryFromConfig({ ...QWEN_3_8B, num_attention_heads: 0 }, 'mine');
    expect(read).toThrow("mine cannot be used: it has 0 for 'num_attention_heads' or 'n_head'.");
  });

  it.each([
    [DEEPSEEK_V3, 'kv_lora_rank'],
    [DEEPSEEK_V3, 'q_lora_rank'],
    [DEEPSEEK_V3, 'moe_intermediate_size'],
    [{ ...QWEN_3_8B, model_type: 'qwen3_moe', num_experts: 8, num_experts_per_tok: 2 }, MOE_WIDTH],
  ])('replaces no field that the family needs by another (%#)', (config, name) => {
    const read = () => geometryFromConfig(without(config, name), 'mine');
    expect(read).toThrow(`mine cannot be used: it has no '${name}'.`);
  });

  it('counts whole queries where DeepSeek-V2-Lite has no rank for them', () => {
    const full = parameterCount(geometryFromConfig(DEEPSEEK_V3, 'mine'));
    const { layers, heads, hidden, ...lite } = geometryFromConfig(
      { ...DEEPSEEK_V3, q_lora_rank: null },
      'mine',
    );
    const queries = heads * (128 + 64);
    const saved = hidden * 1536 + 1536 * queries - hidden * queries;
    expect(parameterCount({ ...lite, layers, heads, hidden })).toBe(full - layers * saved);
  });

  it("counts Qwen2's wide shared expert as several", () => {
    const moe = { num_experts: 60, num_experts_per_tok: 4, moe_intermediate_size: 1408 };
    const config = { ...QWEN_3_8B, ...moe, model_type: 'qwen2_moe' };
    const { experts } = geometryFromConfig(
      { ...config, shared_expert_intermediate_size: 5632 },
      'mine',
    );
    expect(experts).toMatchObject({ sharedExperts: 4, expertIntermediate: 1408 });
  });

  it.each(['qwen3_next', 'minimax', 'kimi_linear', 'lfm2', 'bamba'])(
    'refuses the hybrid %s with the reason',
    (type) => {
      const read = () => geometryFromConfig({ ...QWEN_3_8B, model_type: type }, 'mine');
      expect(read).toThrow(`a hybrid (${type}) of attention and state-space layers`);
    },
  );

  it.each([
    [{ layer_types: ['full_attention', 'linear_attention'] }, "layers of type 'linear_attention'"],
    [{ index_topk: 2048 }, "sparse attention ('index_topk')"],
    [{ block_configs: [] }, "layers of several shapes ('block_configs')"],
    [{ num_experts_per_tok: 8 }, "'num_experts_per_tok' but no number of experts"],
  ])('refuses what it would simulate as another model (%#)', (fields, reason) => {
    const read = () => geometryFromConfig({ ...QWEN_3_8B, ...fields }, 'mine');
    expect(read).toThrow(reason);
  });

  it('reads the experts of ERNIE 4.5', () => {
    const moe = { moe_num_experts: 64, moe_k: 6, moe_num_shared_experts: 2 };
    const width = { moe_intermediate_size: 1536, moe_layer_start_index: 1 };
    const config = { ...QWEN_3_8B, ...moe, ...width, model_type: 'ernie4_5_moe' };
    const expected = { experts: 64, activeExperts: 6, sharedExperts: 2, denseLayers: 1 };
    expect(geometryFromConfig(config, 'mine').experts).toMatchObject(expected);
  });

  it('believes the field about norms of queries and keys', () => {
    const air = { ...QWEN_3_8B, model_type: 'glm4_moe', use_qk_norm: false };
    expect(geometryFromConfig(air, 'mine').qkNorm).toBeUndefined();
    expect(geometryFromConfig({ ...air, use_qk_norm: true }, 'mine').qkNorm).toBe(true);
  });

  it("counts Llama 4's layers with RoPE as chunked", () => {
    const text_config = { ...LLAMA_4_MAVERICK.text_config, no_rope_layers: [1, 0, 1, 1] };
    const { attention } = geometryFromConfig({ ...LLAMA_4_MAVERICK, text_config }, 'mine');
    const slidingWindow = { tokens: 8192, layers: 3, isChunked: true };
    expect(attention).toMatchObject({ slidingWindow });
  });

  it('reads layers with a window from the layer types', () => {
    const types = ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'];
    const config = { ...QWEN_3_8B, use_sliding_window: true, sliding_window: 128 };
    const { attention } = geometryFromConfig({ ...config, layer_types: types }, 'mine');
    expect(attention).toMatchObject({ slidingWindow: { tokens: 128, layers: 2 } });
  });
});

describe('the formats in a config.json', () => {
  /** As moonshotai/Kimi-K2.5 publishes it: only routed experts are in INT4. */
  const KIMI = {
    quant_method: 'compressed-tensors',
    format: 'pack-quantized',
    config_groups: {
      group_0: { targets: ['Linear'], weights: { num_bits: 4, type: 'int', group_size: 32 } },
    },
    ignore: [
      ...['lm_head', 're:.*self_attn.*', 're:.*shared_experts.*'],
      're:.*mlp\\.(gate|up|gate_up|down)_proj.*',
    ],
  };

  const precisionOf = (quantization: object, base: object = DEEPSEEK_V3) =>
    geometryFromConfig({ ...base, quantization_config: quantization }, 'mine').precision;

  it('leave in BF16 what the checkpoint leaves out', () => {
    const own = { linear: 'bf16', experts: 'int4_group32', kvCache: 'bf16' };
    expect(precisionOf(KIMI)).toEqual(own);
    expect(findModel('kimi-k2.5').precision).toEqual(own);
  });

  it("are read of a model's text part", () => {
    const text = { ...DEEPSEEK_V3, quantization_config: KIMI };
    const { precision } = geometryFromConfig({ model_type: 'kimi_k25', text_config: text }, 'mine');
    expect(precision.experts).toBe('int4_group32');
  });

  it('may differ into and behind attention', () => {
    const out = ['*.q_a_proj*', '*.q_b_proj*', '*.kv_a_proj*', '*.kv_b_proj*', 'lm_head'];
    const modelopt = { quant_method: 'modelopt', quant_algo: 'NVFP4', exclude_modules: out };
    const parts = { linear: 'nvfp4', experts: 'nvfp4', kvCache: 'bf16' };
    const own = { ...parts, attention: 'bf16', attentionOutput: 'nvfp4' };
    expect(precisionOf(modelopt)).toEqual(own);
    const { model } = { model: findModel('deepseek-v3') };
    const served = servedIn(model, findGpu('b200'), { quantization: 'nvfp4' });
    expect(served.precision).toEqual(own);
    const whole = { ...modelopt, exclude_modules: ['model.layers.*.self_attn*', 'lm_head'] };
    expect(precisionOf(whole)).toEqual({ ...parts, attention: 'bf16' });
  });

  it.each([
    ['a part of the name', ['self_attn']],
    [
      'every layer by its name',
      Array.from({ length: 36 }, (_, i) => `model.layers.${i}.self_attn`),
    ],
    ['a pattern', ['re:.*self_attn']],
  ])('are BF16 where %s is left out', (_how, ignored) => {
    const fp8 = {
      quant_method: 'fp8',
      activation_scheme: 'dynamic',
      modules_to_not_convert: ignored,
    };
    const { linear, attention } = precisionOf(fp8, QWEN_3_8B);
    expect({ linear, attention }).toEqual({ linear: 'fp8', attention: 'bf16' });
  });

  it.each([
    [{ quant_method: 'fp8', activation_scheme: 'dynamic' }, 'fp8'],
    [{ quant_method: 'fp8', activation_scheme: 'static' }, 'fp8_static'],
    [{ quant_method: 'fbgemm_fp8', activation_scale_ub: 1200 }, 'fp8'],
  ])('are FP8 with scales while running or in the checkpoint (%#)', (quantized, linear) => {
    expect(precisionOf(quantized, QWEN_3_8B).linear).toBe(linear);
  });

  it.each([
    ['a list of other layers', ['model.layers.1.self_attn', 'lm_head', 'mlp.gate']],
    ['a pattern that cannot be read', ['re:(self_attn']],
  ])('are those of the checkpoint in spite of %s', (_how, ignored) => {
    const awq = { quant_method: 'awq', bits: 4, group_size: 128, modules_to_not_convert: ignored };
    const all = { linear: 'int4', experts: 'int4', kvCache: 'bf16' };
    expect(precisionOf(awq, QWEN_3_8B)).toEqual(all);
  });

  it('are refused with the width that is not simulated', () => {
    const read = () => precisionOf({ quant_method: 'gptq', bits: 8 }, QWEN_3_8B);
    expect(read).toThrow("a quantization_config of unknown method 'gptq' with 8 bits");
  });
});

describe('a model that is served in another format', () => {
  it('has weights of the size of that format, except for the vocabulary', () => {
    const model = findModel('llama-3.1-8b');
    const fp8 = servedIn(model, findGpu('h100'), { quantization: 'fp8' });
    const linear = parameterCount(model) - 2 * model.vocabulary * model.hidden;
    const saved = parameterCount(model) * (meanWeightBytes(model) - meanWeightBytes(fp8));
    expect(saved).toBeCloseTo(linear, -3);
  });

  const servedAs = (name: string, quantization: Quantization) =>
    servedIn(findModel(name), findGpu('h100'), { quantization }).precision;

  it('has FP8 weights with activations scaled at run time as fbgemm_fp8', () => {
    const fp8 = { linear: 'fp8', experts: 'fp8', kvCache: 'bf16' };
    expect(servedAs('llama-3.1-8b', 'fbgemm_fp8')).toEqual(fp8);
  });

  it('has the format of its checkpoint as compressed-tensors, which must have one', () => {
    const { precision } = findModel('deepseek-v3');
    expect(servedAs('deepseek-v3', 'compressed-tensors')).toEqual(precision);
    expect(() => servedAs('llama-3.1-8b', 'compressed-tensors')).toThrow(
      'quantization compressed-tensors is the format of the checkpoint, and llama-3.1-8b has none',
    );
  });

  it('is refused on a GPU without units for it, with the possible formats', () => {
    const served = () =>
      servedIn(findModel('llama-3.1-8b'), findGpu('h100'), { quantization: 'nvfp4' });
    expect(served).toThrow('h100 has no units for NVFP4. Possible quantization: none, fp8, ');
  });
});
