import type { JsonFields } from '@baton/kernel';

const GEMMA = { vocab_size: 256_000, head_dim: 256, tie_word_embeddings: true } as const;
const GEMMA_2 = {
  ...GEMMA,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  max_position_embeddings: 8192,
  sliding_window: 4096,
  sliding_window_pattern: 2,
} as const;
const GEMMA_3 = {
  ...GEMMA_2,
  vocab_size: 262_208,
  max_position_embeddings: 131_072,
  sliding_window_pattern: 6,
} as const;
const LLAMA_4 = {
  vocab_size: 202_048,
  num_attention_heads: 40,
  num_key_value_heads: 8,
  head_dim: 128,
  attention_chunk_size: 8192,
  no_rope_layer_interval: 4,
  intermediate_size_mlp: 16_384,
  num_local_experts: 16,
  num_experts_per_tok: 1,
  max_position_embeddings: 131_072,
} as const;
const QWEN = { use_sliding_window: false } as const;
const TIED = { tie_word_embeddings: true } as const;

/**
 * What a published `config.json` may leave out, by `model_type`: the defaults of the configuration
 * classes of Transformers (`src/transformers/models/<family>/configuration_<family>.py`).
 */
export const FAMILY_DEFAULTS: Readonly<Record<string, JsonFields>> = {
  gemma: {
    ...GEMMA,
    num_attention_heads: 16,
    num_key_value_heads: 16,
    max_position_embeddings: 8192,
  },
  gemma2: GEMMA_2,
  gemma3: GEMMA_3,
  gemma3_text: GEMMA_3,
  llama4: LLAMA_4,
  llama4_text: LLAMA_4,
  qwen2: QWEN,
  qwen2_moe: QWEN,
  qwen3: QWEN,
  qwen3_moe: QWEN,
  cohere: TIED,
  opt: TIED,
  gpt2: TIED,
  starcoder2: TIED,
};
