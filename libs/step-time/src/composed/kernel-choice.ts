import type { Framework } from './framework';

/** vLLM's `VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8` on Blackwell, TensorRT-LLM's default there. */
export type Mxfp4Activations = 'bf16' | 'mxfp8';

/** The precision in which PyTorch multiplies 32-bit numbers: `VLLM_FLOAT32_MATMUL_PRECISION`. */
export type Float32Precision = 'highest' | 'high';

/** The choice among equivalent kernels. */
export interface KernelChoice {
  readonly framework?: Framework | undefined;
  /** Format of the input of experts with MXFP4 weights. Default: bf16. */
  readonly mxfp4Activations?: Mxfp4Activations | undefined;
  /** Precision of routers in 32 bits; unset: highest. */
  readonly float32?: Float32Precision | undefined;
  /** The y of vLLM 0.y; unset: 30. */
  readonly vllmMinor?: number | undefined;
  /** vLLM's `fuse_allreduce_rms`; unset: the default of its version. */
  readonly isNormInAllReduce?: boolean | undefined;
}

const VLLM_MINOR = 30;

/** A choice completed with the defaults. */
export type Kernels = ReturnType<typeof kernelsOf>;

export function kernelsOf(choice: KernelChoice) {
  const { framework = 'vllm', mxfp4Activations = 'bf16', float32 = 'highest' } = choice;
  const { vllmMinor = VLLM_MINOR, isNormInAllReduce } = choice;
  return { framework, mxfp4Activations, float32, vllmMinor, isNormInAllReduce } as const;
}
