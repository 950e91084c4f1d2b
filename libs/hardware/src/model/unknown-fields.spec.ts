import { describe, expect, it } from 'vitest';
import { geometryFromConfig } from './geometry-from-config';

const LLAMA = {
  architectures: ['LlamaForCausalLM'],
  attention_bias: false,
  attention_dropout: 0,
  bos_token_id: 1,
  head_dim: 128,
  hidden_act: 'silu',
  hidden_size: 4096,
  initializer_range: 0.02,
  intermediate_size: 14_336,
  max_position_embeddings: 131_072,
  mlp_bias: false,
  model_type: 'acme',
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  pretraining_tp: 1,
  rms_norm_eps: 1e-5,
  rope_scaling: { rope_type: 'llama3' },
  rope_theta: 500_000,
  tie_word_embeddings: false,
  torch_dtype: 'bfloat16',
  use_cache: true,
  vocab_size: 128_256,
};

const read = (more: object, accepted: readonly string[] = []) =>
  geometryFromConfig({ ...LLAMA, ...more }, 'acme', accepted);

/** From configurations of public models. */
const SHAPING: readonly (readonly [string, unknown])[] = [
  ['num_global_key_value_heads', 4],
  ['global_head_dim', 512],
  ['num_kv_shared_layers', 18],
  ['attention_k_eq_v', true],
  ['full_attention_interval', 4],
  ['linear_num_value_heads', 32],
  ['linear_conv_kernel_dim', 4],
  ['layer_group_size', 5],
  ['hybrid_layer_pattern', [0, 1, 1, 1]],
  ['swa_num_key_value_heads', 8],
  ['v_head_dim', 64],
  ['linear_attn_config', { kda_layers: [1, 2, 3], full_attn_layers: [4] }],
  ['attn_layer_period', 8],
  ['attn_type_list', [0, 1]],
  ['mamba_d_state', 16],
  ['ssm_cfg', { d_state: 128 }],
  ['lru_width', 4096],
  ['conv_L_cache', 3],
  ['full_attn_idxs', [2, 5]],
  ['cla_share_factor', 2],
  ['sparse_attention_config', { block: 64 }],
  ['compress_ratios', [1, 4]],
  ['moe_every_n_layers', 2],
  ['num_kv_heads', 71],
  ['multi_query', true],
  ['attention_chunk_pattern', 4],
  ['sliding_window_size', 128],
  ['o_lora_rank', 1024],
  ['recurrent_block_type', 'rg'],
  ['shared_memory_tokens', 64],
];

describe('a field of config.json that nothing reads', () => {
  it.each(SHAPING)('is refused by name when it concerns the shape: %s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(name);
  });

  it('is accepted after a look, and is then said to have no effect', () => {
    const layers = { layer_group_size: 5, group_norm_size: 4 };
    expect(() => read(layers)).toThrow("has 'layer_group_size', which Baton does not simulate");
    expect(() => read(layers)).toThrow('--accept-unknown-config layer_group_size');
    expect(read(layers, ['layer_group_size']).layers).toBe(32);
  });

  it('has no effect when it is off', () => {
    const off = { num_kv_shared_layers: 0, linear_attn_config: null, use_cla: false };
    expect(read({ ...off, mlp_only_layers: [], attn_layer_period: 1 }).layers).toBe(32);
  });

  it('is listed when it concerns no shape', () => {
    const { unusedFields = [] } = read({ acme_extra: 7, attention_bias: true });
    expect(unusedFields).toContain('acme_extra');
    expect(unusedFields).toContain('rope_theta');
    expect(unusedFields).not.toContain('num_key_value_heads');
    expect(unusedFields).not.toContain('pretraining_tp');
  });

  it('is refused in the text model of several models', () => {
    const content = { model_type: 'acme_vl', text_config: { ...LLAMA, global_head_dim: 512 } };
    expect(() => geometryFromConfig(content, 'acme')).toThrow("'global_head_dim'");
  });
});

describe('the window of attention', () => {
  it('has the layers from max_window_layers on when it is switched on', () => {
    const { attention } = read({
      sliding_window: 4096,
      use_sliding_window: true,
      max_window_layers: 28,
    });
    expect(attention).toMatchObject({ slidingWindow: { tokens: 4096, layers: 4 } });
  });
});

describe('layers with experts', () => {
  const MIXTURE = {
    num_experts: 64,
    num_experts_per_tok: 8,
    moe_intermediate_size: 512,
    first_k_dense_replace: 1,
  };

  it('agree in all fields that list them', () => {
    const list = [0, ...Array.from({ length: 31 }, () => 1)];
    expect(read({ ...MIXTURE, moe_layer_freq: list }).experts?.denseLayers).toBe(1);
    expect(read({ ...MIXTURE, moe_layer_freq: 1 }).experts?.denseLayers).toBe(1);
    expect(() => read({ ...MIXTURE, moe_layer_freq: [0, 0, ...list.slice(2)] })).toThrow(
      "has 2 layers without experts by 'moe_layer_freq' and 1 by its other fields",
    );
    expect(() => read({ ...MIXTURE, moe_layer_freq: 2 })).toThrow('in one of 2 layers');
    expect(() => read({ ...MIXTURE, mlp_only_layers: [3, 4] })).toThrow("'mlp_only_layers'");
  });
});
