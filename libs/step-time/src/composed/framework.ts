/** The framework whose kernels and fusions a step uses. */
export type Framework = 'vllm' | 'sglang' | 'trtllm';

/** Kernels that a framework fuses and others do not. */
export interface Fusions {
  /** Rotary embedding, norms of queries and keys, and writing to the cache together. */
  readonly isCacheWriteFused: boolean;
  /** Adding the residual, norming and quantising within the all-reduce. */
  readonly isNormInAllReduce: boolean;
  /** Sending tokens only to the ranks of their experts when experts are spread over nodes. */
  readonly isRoutingTokens: boolean;
}

/**
 * TensorRT-LLM: `applyBiasRopeUpdateKVCache` and `AllReduceFusionOp.RESIDUAL_RMS_NORM_QUANT_FP8`,
 * both by default. vLLM and SGLang write to the cache apart (`do_kv_cache_update`,
 * `set_kv_buffer`); their fused all-reduce is an option. vLLM gathers the tokens of all ranks
 * (`--all2all-backend allgather_reducescatter`, its default); the recipes of the other two for
 * racks route them (`moe-a2a-backend: deepep`, NVLink all-to-all).
 */
export const FUSIONS: Readonly<Record<Framework, Fusions>> = {
  vllm: { isCacheWriteFused: false, isNormInAllReduce: false, isRoutingTokens: false },
  sglang: { isCacheWriteFused: false, isNormInAllReduce: false, isRoutingTokens: true },
  trtllm: { isCacheWriteFused: true, isNormInAllReduce: true, isRoutingTokens: true },
};

export const FRAMEWORKS = Object.keys(FUSIONS) as readonly Framework[];
