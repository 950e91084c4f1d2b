/** Whose kernels and fusions a step is put together with. */
export type Framework = 'vllm' | 'sglang' | 'trtllm';

/** What of the step a framework runs in one kernel where others run several. */
export interface Fusions {
  /** Rotary embedding, norms of queries and keys, and writing to the cache together. */
  readonly isCacheWriteFused: boolean;
  /** Adding the residual, norming and quantising within the all-reduce. */
  readonly isNormInAllReduce: boolean;
}

/**
 * TensorRT-LLM: `applyBiasRopeUpdateKVCache` and `AllReduceFusionOp.RESIDUAL_RMS_NORM_QUANT_FP8`,
 * both by default. vLLM and SGLang write to the cache apart (`do_kv_cache_update`,
 * `set_kv_buffer`); their fused all-reduce is an option.
 */
export const FUSIONS: Readonly<Record<Framework, Fusions>> = {
  vllm: { isCacheWriteFused: false, isNormInAllReduce: false },
  sglang: { isCacheWriteFused: false, isNormInAllReduce: false },
  trtllm: { isCacheWriteFused: true, isNormInAllReduce: true },
};
