import type { Named } from '../find-by-name';

/** The connection of the GPUs of one engine. */
export interface GpuInterconnect {
  readonly kind: 'nvlink' | 'infinity-fabric' | 'pcie' | 'inter-chip' | 'ethernet';
  /** Rate of one direction, per GPU. */
  readonly bytesPerSecond: number;
  /** Time of an all-reduce of the smallest size. */
  readonly allReduceUs: number;
  /** Share of the rate that an all-reduce of some megabytes reaches, 0..1. */
  readonly allReduceEfficiency: number;
}

/** Shares of the data sheet's figures that kernels reach, 0..1. */
export interface GpuEfficiency {
  /** Matrix products over prompt tokens (known as MFU). */
  readonly prefillCompute: number;
  /** Matrix products over decode batches, which are too small to fill the GPU. */
  readonly decodeCompute: number;
  /** Attention of prompts. */
  readonly attentionCompute: number;
  /** Weights and KV read from memory. */
  readonly memory: number;
  /** Time per layer outside computing and reading: launches, norms, gaps between kernels, µs. */
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
  /** According to the data sheet. */
  readonly memoryBytes: number;
  /** The part of this memory that the driver reports: the total of `cudaMemGetInfo`. */
  readonly shownMemoryBytes: number;
  readonly memoryBytesPerSecond: number;
  readonly interconnect: GpuInterconnect;
  readonly efficiency: GpuEfficiency;
  /** Sources of the figures, with `efficiency` separate from the data sheet's. */
  readonly source: { readonly figures: string; readonly efficiency: string };
}
