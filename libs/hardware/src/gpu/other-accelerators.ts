import type { Gpu, GpuInterconnect } from './gpu';
import { ASSUMED, efficiency, gpu } from './gpu-row';

/** Seven links of one GPU to the others; latency and efficiency are assumptions. */
const infinityFabric = (gbPerSecond: number): GpuInterconnect => ({
  kind: 'infinity-fabric',
  bytesPerSecond: gbPerSecond * 1e9,
  allReduceUs: 10,
  allReduceEfficiency: 0.6,
});

/** Google's inter-chip interconnect, half of its bidirectional figure; the rest is assumed. */
const torus = (gbPerSecond: number): GpuInterconnect => ({
  kind: 'inter-chip',
  bytesPerSecond: gbPerSecond * 1e9,
  allReduceUs: 10,
  allReduceEfficiency: 0.6,
});

/** Accelerators of other makers. */
export const OTHER_ACCELERATORS: readonly Gpu[] = [
  gpu({
    name: 'mi300x',
    aliases: ['mi300', 'mi300x-192g', 'mi300x-192gb'],
    teraflops: 1307.4,
    fp8Factor: 2,
    memoryGib: 192,
    shownGib: 191.98,
    memoryGbPerSecond: 5300,
    interconnect: infinityFabric(448),
    efficiency: efficiency([0.45, 0.35, 0.4], 0.8, 60),
    figures: 'AMD Instinct MI300X data sheet, dense; seven links of 64 GB/s',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'mi325x',
    aliases: ['mi325x-256g', 'mi325x-256gb'],
    teraflops: 1307.4,
    fp8Factor: 2,
    memoryGib: 256,
    memoryGbPerSecond: 6000,
    interconnect: infinityFabric(448),
    efficiency: efficiency([0.45, 0.35, 0.4], 0.8, 60),
    figures: 'AMD Instinct MI325X as a review quotes it, dense; links as mi300x, not confirmed',
    url: 'https://awesomeagents.ai/hardware/amd-mi325x',
    efficiencyFrom: `${ASSUMED}, as mi300x`,
  }),
  gpu({
    name: 'mi355x',
    aliases: ['mi355', 'mi355x-288g', 'mi355x-288gb'],
    teraflops: 2516.6,
    fp8Factor: 2,
    memoryGib: 288,
    memoryGbPerSecond: 8000,
    interconnect: infinityFabric(537.6),
    efficiency: efficiency([0.45, 0.35, 0.4], 0.8, 60),
    figures:
      'AMD Instinct MI355X, memory as an encyclopedia quotes it; 5 petaflops of dense FP8 as AMD ' +
      'presented at ISSCC 2026, its digits and the links not confirmed; units for MXFP4 left out',
    url: 'https://aiwiki.ai/wiki/amd_instinct_mi355x',
    efficiencyFrom: `${ASSUMED}, as mi300x`,
  }),
  gpu({
    name: 'tpu-v5e',
    aliases: ['v5e', 'tpu-v5-lite'],
    teraflops: 197,
    memoryGib: 16,
    memoryGbPerSecond: 819,
    interconnect: torus(200),
    efficiency: efficiency([0.55, 0.4, 0.4], 0.8, 20),
    figures: 'Google Cloud TPU v5e, half of the bidirectional link rate',
    url: 'https://docs.cloud.google.com/tpu/docs/v5e',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'tpu-v6e',
    aliases: ['v6e', 'trillium'],
    teraflops: 918,
    memoryGib: 32,
    memoryGbPerSecond: 1638,
    interconnect: torus(400),
    efficiency: efficiency([0.5, 0.35, 0.4], 0.8, 20),
    figures: 'Google Cloud TPU v6e, half of the bidirectional link rate',
    url: 'https://docs.cloud.google.com/tpu/docs/v6e',
    efficiencyFrom: ASSUMED,
  }),
  gpu({
    name: 'gaudi-3',
    aliases: ['gaudi3', 'hl-325l', 'gaudi-3-128gb'],
    teraflops: 1835,
    fp8Factor: 1,
    memoryGib: 128,
    memoryGbPerSecond: 3670,
    interconnect: {
      kind: 'ethernet',
      bytesPerSecond: 525e9,
      allReduceUs: 15,
      allReduceEfficiency: 0.6,
    },
    efficiency: efficiency([0.5, 0.35, 0.4], 0.75, 60),
    figures:
      'Intel at Hot Chips 2024, a copy of the slides: FP8 at the rate of BF16, 24 ports of ' +
      '25 GB/s; that 21 of them stay inside the node is not confirmed',
    url: 'https://www.sgpjbg.com/baogao/465025.html',
    efficiencyFrom: ASSUMED,
  }),
];
