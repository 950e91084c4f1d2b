import type { Gpu, GpuEfficiency, GpuInterconnect } from './gpu';

const GIB = 2 ** 30;

/** A line of the catalogue, in the units of data sheets. */
export interface GpuRow {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly teraflops: number;
  /** Unset: the GPU has no FP8 units. */
  readonly fp8Factor?: number;
  /** Unset: the GPU has no FP4 units. */
  readonly fp4Factor?: number;
  readonly memoryGib: number;
  /** Total memory by `cudaMemGetInfo` in public logs. Default: 0.99 of the data sheet's. */
  readonly shownGib?: number;
  readonly memoryGbPerSecond: number;
  readonly interconnect: GpuInterconnect;
  readonly efficiency: GpuEfficiency;
  readonly figures: string;
  readonly url?: string;
  readonly efficiencyFrom: string;
  readonly operators?: string;
}

/** Share of the data sheet's memory that the driver reports by default: that of the H100. */
const SHOWN_PART = 0.99;

export function gpu(row: GpuRow): Gpu {
  return {
    name: row.name,
    aliases: row.aliases,
    flopsPerSecond: row.teraflops * 1e12,
    memoryBytes: row.memoryGib * GIB,
    shownMemoryBytes: (row.shownGib ?? row.memoryGib * SHOWN_PART) * GIB,
    memoryBytesPerSecond: row.memoryGbPerSecond * 1e9,
    interconnect: row.interconnect,
    efficiency: row.efficiency,
    source: {
      figures: row.url === undefined ? row.figures : `${row.figures}: ${row.url}`,
      efficiency: row.efficiencyFrom,
    },
    ...(row.fp8Factor === undefined ? {} : { fp8Factor: row.fp8Factor }),
    ...(row.fp4Factor === undefined ? {} : { fp4Factor: row.fp4Factor }),
    ...(row.operators === undefined ? {} : { operators: row.operators }),
  };
}

/**
 * All-reduces of vLLM's graphs over eight GPUs, from AIConfigurator's operator tables. The smallest
 * ones take 5.6 µs on A100, 4.7 on H100 and H200. Those of 16 MB reach 46 % of the rate on A100, 71
 * % on H100, 75 % on H200.
 */
export const nvlink = (
  gbPerSecond: number,
  allReduceUs: number,
  part: number,
): GpuInterconnect => ({
  kind: 'nvlink',
  bytesPerSecond: gbPerSecond * 1e9,
  allReduceUs,
  allReduceEfficiency: part,
});
/** Through host memory; latency and efficiency are assumptions. */
export const pcie = (gbPerSecond: number): GpuInterconnect => ({
  kind: 'pcie',
  bytesPerSecond: gbPerSecond * 1e9,
  allReduceUs: 25,
  allReduceEfficiency: 0.6,
});

/** The arguments follow their use; `compute` stands for prefill, decode and attention. */
export const efficiency = (
  compute: readonly [prefill: number, decode: number, attention: number],
  memory: number,
  layerOverheadUs: number,
): GpuEfficiency => ({
  prefillCompute: compute[0],
  decodeCompute: compute[1],
  attentionCompute: compute[2],
  memory,
  layerOverheadUs,
});

/** For GPUs without a measured efficiency. */
export const ASSUMED = 'assumed: between the fitted cards; not measured';
