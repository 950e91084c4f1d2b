import { findByName } from '../find-by-name';
import type { Gpu, GpuEfficiency, GpuInterconnect } from './gpu';

const GIB = 2 ** 30;

interface Row {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly teraflops: number;
  readonly fp8Factor?: 1;
  readonly fp4Factor?: number;
  readonly memoryGib: number;
  readonly memoryGbPerSecond: number;
  readonly interconnect: GpuInterconnect;
  readonly efficiency: GpuEfficiency;
  readonly figures: string;
  readonly efficiencyFrom: string;
  readonly operators?: string;
}

function gpu(row: Row): Gpu {
  return {
    name: row.name,
    aliases: row.aliases,
    flopsPerSecond: row.teraflops * 1e12,
    fp8Factor: row.fp8Factor ?? 2,
    memoryBytes: row.memoryGib * GIB,
    memoryBytesPerSecond: row.memoryGbPerSecond * 1e9,
    interconnect: row.interconnect,
    efficiency: row.efficiency,
    source: { figures: row.figures, efficiency: row.efficiencyFrom },
    ...(row.fp4Factor === undefined ? {} : { fp4Factor: row.fp4Factor }),
    ...(row.operators === undefined ? {} : { operators: row.operators }),
  };
}

/**
 * All-reduces of vLLM's graphs over eight GPUs, from AIConfigurator's operator tables. Almost
 * nothing: 5.6 µs on A100, 4.7 on H100 and H200. 16 MB: 46 % of the rate on A100, 71 % on H100, 75
 * % on H200.
 */
const nvlink = (gbPerSecond: number, allReduceUs: number, part: number): GpuInterconnect => ({
  kind: 'nvlink',
  bytesPerSecond: gbPerSecond * 1e9,
  allReduceUs,
  allReduceEfficiency: part,
});
const A100_NVLINK = nvlink(300, 5.6, 0.46);
const HOPPER_NVLINK = nvlink(450, 4.7, 0.71);

/** Through host memory; latency and efficiency are assumptions. */
const pcie = (gbPerSecond: number): GpuInterconnect => ({
  kind: 'pcie',
  bytesPerSecond: gbPerSecond * 1e9,
  allReduceUs: 25,
  allReduceEfficiency: 0.6,
});

const efficiency = (
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

const FITTED = 'fitted to Llama-3.1-8B TP1 of data/profiles/unified_model.json';
const ASSUMED = 'assumed: between the fitted cards; not measured';
const FROM_OPERATORS = 'LLMServingSim operator tables (vLLM 0.19), attention and dense layers';

/** The GPUs known by figures. */
export const GPUS: readonly Gpu[] = [
  gpu({
    name: 'a100-80g',
    operators: 'a100_sxm',
    aliases: ['a100', 'a100-80gb', 'a100-sxm', 'a100-sxm-80gb', 'a100-sxm4-80gb'],
    teraflops: 312,
    fp8Factor: 1,
    memoryGib: 80,
    memoryGbPerSecond: 2039,
    interconnect: A100_NVLINK,
    efficiency: efficiency([0.797, 0.73, 0.566], 0.803, 73.3),
    figures: 'NVIDIA A100 data sheet; AIConfigurator a100_sxm',
    efficiencyFrom: FITTED,
  }),
  gpu({
    name: 'a100-40g',
    aliases: ['a100-40gb', 'a100-sxm-40gb', 'a100-sxm4-40gb'],
    teraflops: 312,
    fp8Factor: 1,
    memoryGib: 40,
    memoryGbPerSecond: 1555,
    interconnect: A100_NVLINK,
    efficiency: efficiency([0.797, 0.73, 0.566], 0.803, 73.3),
    figures: 'NVIDIA A100 data sheet',
    efficiencyFrom: 'those of a100-80g',
  }),
  gpu({
    name: 'h100',
    operators: 'h100_sxm',
    aliases: ['h100-sxm', 'h100-80g', 'h100-80gb', 'h100-sxm-80gb', 'h100-sxm5'],
    teraflops: 989.5,
    memoryGib: 80,
    memoryGbPerSecond: 3350,
    interconnect: HOPPER_NVLINK,
    efficiency: efficiency([0.676, 0.57, 0.676], 0.926, 41.9),
    figures: 'NVIDIA H100 SXM data sheet; AIConfigurator h100_sxm',
    efficiencyFrom: FITTED,
  }),
  gpu({
    name: 'h200',
    operators: 'h200_sxm',
    aliases: ['h200-sxm', 'h200-141g', 'h200-141gb', 'h200-sxm-141gb'],
    teraflops: 989.5,
    memoryGib: 141,
    memoryGbPerSecond: 4800,
    interconnect: HOPPER_NVLINK,
    efficiency: efficiency([0.671, 0.74, 0.664], 0.941, 48.4),
    figures: 'NVIDIA H200 SXM data sheet; AIConfigurator h200_sxm',
    efficiencyFrom: FITTED,
  }),
  gpu({
    name: 'h800',
    aliases: ['h800-sxm', 'h800-80g', 'h800-80gb', 'h800-sxm-80gb'],
    teraflops: 989.5,
    memoryGib: 80,
    memoryGbPerSecond: 3350,
    interconnect: nvlink(200, 4.7, 0.71),
    efficiency: efficiency([0.676, 0.57, 0.676], 0.926, 41.9),
    figures: 'those of h100 with 400 GB/s of NVLink, as DeepSeek publishes for its H800',
    efficiencyFrom: 'those of h100',
  }),
  gpu({
    name: 'h20',
    aliases: ['h20-sxm', 'h20-96g', 'h20-96gb'],
    teraflops: 148,
    memoryGib: 96,
    memoryGbPerSecond: 4000,
    interconnect: HOPPER_NVLINK,
    efficiency: efficiency([0.8, 0.7, 0.7], 0.93, 45),
    figures: 'NVIDIA H20 figures as published by cloud vendors',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'b200',
    operators: 'b200_sxm',
    aliases: ['b200-sxm', 'b200-180g', 'b200-180gb'],
    teraflops: 2250,
    fp4Factor: 4,
    memoryGib: 180,
    memoryGbPerSecond: 8000,
    interconnect: nvlink(900, 4.7, 0.7),
    efficiency: efficiency([0.65, 0.45, 0.6], 0.9, 40),
    figures: 'NVIDIA DGX B200 data sheet, one of eight, dense',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'b300',
    operators: 'b300_sxm',
    aliases: ['b300-sxm', 'b300-288g', 'b300-288gb'],
    teraflops: 2250,
    fp4Factor: 6,
    memoryGib: 268,
    memoryGbPerSecond: 8000,
    interconnect: nvlink(900, 4.7, 0.7),
    efficiency: efficiency([0.65, 0.45, 0.6], 0.9, 40),
    figures: 'NVIDIA DGX B300 data sheet, one of eight, dense; memory as AIConfigurator b300_sxm',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'gb200',
    operators: 'gb200',
    aliases: ['gb200-nvl72', 'gb200-186gb'],
    teraflops: 2500,
    fp4Factor: 4,
    memoryGib: 185,
    memoryGbPerSecond: 8000,
    interconnect: nvlink(900, 4.7, 0.7),
    efficiency: efficiency([0.65, 0.45, 0.6], 0.9, 40),
    figures: 'NVIDIA GB200 NVL72 data sheet, one of 72, dense; memory as AIConfigurator gb200',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'gb300',
    operators: 'gb300',
    aliases: ['gb300-nvl72', 'gb300-288gb'],
    teraflops: 2500,
    fp4Factor: 6,
    memoryGib: 277,
    memoryGbPerSecond: 8000,
    interconnect: nvlink(900, 4.7, 0.7),
    efficiency: efficiency([0.65, 0.45, 0.6], 0.9, 40),
    figures: 'NVIDIA GB300 NVL72 data sheet, one of 72, dense; memory as AIConfigurator gb300',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'l40s',
    operators: 'l40s',
    aliases: ['l40s-48g', 'l40s-48gb'],
    teraflops: 362,
    memoryGib: 48,
    memoryGbPerSecond: 864,
    interconnect: pcie(32),
    efficiency: efficiency([0.32, 0.25, 0.32], 0.9, 40),
    figures: 'NVIDIA L40S data sheet, without sparsity',
    efficiencyFrom: 'prefill and attention: BLIS; the rest assumed',
  }),
  gpu({
    name: 'a10',
    aliases: ['a10-24g', 'a10-24gb'],
    teraflops: 125,
    fp8Factor: 1,
    memoryGib: 24,
    memoryGbPerSecond: 600,
    interconnect: pcie(32),
    efficiency: efficiency([0.6, 0.5, 0.5], 0.85, 60),
    figures: 'NVIDIA A10 data sheet, without sparsity',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'rtx-4090',
    aliases: ['4090', 'geforce-rtx-4090', 'rtx4090-24g'],
    teraflops: 165.2,
    memoryGib: 24,
    memoryGbPerSecond: 1008,
    interconnect: pcie(32),
    efficiency: efficiency([0.75, 0.5, 0.73], 0.925, 25),
    figures: 'NVIDIA Ada architecture paper, FP32 accumulation, dense',
    efficiencyFrom: `attention and memory: ${FROM_OPERATORS}; the rest assumed`,
  }),
  gpu({
    name: 'rtx-pro-6000',
    operators: 'rtx_pro_6000_server',
    aliases: ['rtxpro6000', 'rtx-pro-6000-blackwell', 'rtx-pro-6000-server'],
    teraflops: 503.8,
    fp4Factor: 4,
    memoryGib: 96,
    memoryGbPerSecond: 1597,
    interconnect: pcie(64),
    efficiency: efficiency([0.785, 0.53, 0.46], 0.9, 25),
    figures: 'NVIDIA RTX PRO 6000 Blackwell Server data sheet, an eighth of its sparse FP4 figure',
    efficiencyFrom: FROM_OPERATORS,
  }),
  gpu({
    name: 'mi300x',
    aliases: ['mi300', 'mi300x-192g', 'mi300x-192gb'],
    teraflops: 1307.4,
    memoryGib: 192,
    memoryGbPerSecond: 5300,
    interconnect: {
      kind: 'infinity-fabric',
      bytesPerSecond: 448e9,
      allReduceUs: 10,
      allReduceEfficiency: 0.6,
    },
    efficiency: efficiency([0.45, 0.35, 0.4], 0.8, 60),
    figures: 'AMD Instinct MI300X data sheet, dense; seven links of 64 GB/s',
    efficiencyFrom: ASSUMED,
  }),
];

/** @throws HardwareError `unknown-name` */
export function findGpu(name: string): Gpu {
  return findByName('GPU', GPUS, name);
}
