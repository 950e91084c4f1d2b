import type { Named } from '../find-by-name';

/** How the GPUs of one engine reach each other. */
export interface GpuInterconnect {
  readonly kind: 'nvlink' | 'infinity-fabric' | 'pcie' | 'inter-chip' | 'ethernet';
  /** One direction, per GPU. */
  readonly bytesPerSecond: number;
  /** Time of an all-reduce of almost nothing. */
  readonly allReduceUs: number;
  /** Part of the rate that an all-reduce of some megabytes reaches, 0..1. */
  readonly allReduceEfficiency: number;
}

/** Which part of the data sheet's figure a kernel reaches, 0..1. */
export interface GpuEfficiency {
  /** Matrix products over prompt tokens (the field calls it MFU). */
  readonly prefillCompute: number;
  /** Matrix products over decode batches, which are too small to fill the GPU. */
  readonly decodeCompute: number;
  /** Attention of prompts. */
  readonly attentionCompute: number;
  /** Weights and KV read from memory. */
  readonly memory: number;
  /**
   * Time per layer that neither computing nor reading explains: launches, norms, waits between
   * kernels.
   */
  readonly layerOverheadUs: number;
}

export interface Gpu extends Named {
  /** The measured operators of this GPU, by their directory below data/operators. */
  readonly operators?: string;
  /** Dense BF16 with FP32 accumulation, without sparsity. */
  readonly flopsPerSecond: number;
  /** The data sheet's factor of FP8 over BF16; unset: no FP8 units. */
  readonly fp8Factor?: number;
  /** The data sheet's factor of FP4 over BF16; unset: no FP4 units. */
  readonly fp4Factor?: number;
  /** Of the data sheet. */
  readonly memoryBytes: number;
  /** What the driver leaves of it: the total of `cudaMemGetInfo`. */
  readonly shownMemoryBytes: number;
  readonly memoryBytesPerSecond: number;
  readonly interconnect: GpuInterconnect;
  readonly efficiency: GpuEfficiency;
  /** Where the figures come from; `efficiency` apart from the data sheet's. */
  readonly source: { readonly figures: string; readonly efficiency: string };
}
