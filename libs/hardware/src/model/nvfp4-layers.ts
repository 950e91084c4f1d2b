import type { ModelGeometry } from './model-geometry';

export type Nvfp4Layers = NonNullable<ModelGeometry['nvfp4Layers']>;

/**
 * NVIDIA's checkpoints leave the projections into attention in BF16
 * (https://github.com/NVIDIA/Model-Optimizer/issues/150); their second version has the one behind
 * it in NVFP4 (https://huggingface.co/nvidia/DeepSeek-R1-0528-FP4-v2).
 */
export const DEEPSEEK_NVFP4: Nvfp4Layers = { attention: 'bf16', attentionOutput: 'nvfp4' };

/**
 * "Only the weights and activations of the linear operators within the MoE transformer blocks":
 * attention, shared experts and the dense layer stay in BF16 (model card of
 * nvidia/Kimi-K2.6-NVFP4; K2 and K2.5 are assumed to be alike).
 */
export const KIMI_NVFP4: Nvfp4Layers = { linear: 'bf16' };

/** By the `model_type` of a config.json. */
export const NVFP4_LAYERS: Readonly<Record<string, Nvfp4Layers>> = {
  deepseek_v3: DEEPSEEK_NVFP4,
  kimi_k2: KIMI_NVFP4,
};
