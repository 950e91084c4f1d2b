import { fieldsIn, isObject } from '@baton/kernel';

/** The facts of `systems.json` about one kind of GPU and its node. */
export interface SystemFacts {
  /** Directory of the tables, such as `h200_sxm`. */
  readonly name: string;
  readonly memoryBytesPerSecond: number;
  /** Share of that rate that elementwise kernels reach, 0..1, and their fixed time. */
  readonly elementwise: { readonly memoryShare: number; readonly latencyUs: number };
  /** Dense FLOP/s by element type; 0: the GPU has no such units. */
  readonly flops: { readonly bf16: number; readonly fp8: number; readonly fp4: number };
  /** CUDA compute capability, 90 for Hopper. */
  readonly smVersion: number;
  readonly gpusPerNode: number;
  /** GPUs connected by NVLink: those of a rack if it has NVLink, else those of a node. */
  readonly gpusPerRack: number;
  /** One direction, per GPU. */
  readonly nodeBytesPerSecond: number;
  readonly rackBytesPerSecond: number;
  readonly fabricBytesPerSecond: number;
  /** Largest number of GPUs in one collective, by bytes that NCCL takes on each. */
  readonly ncclBytes: Readonly<Record<string, number>>;
}

interface RawSystem {
  readonly gpu: Readonly<Record<string, number>>;
  readonly node: Readonly<Record<string, number>>;
  readonly misc: { readonly nccl_mem: Readonly<Record<string, number>> };
}

/** @returns the facts of the system, or undefined when the file does not have it */
export function systemFactsFrom(json: string, name: string): SystemFacts | undefined {
  const raw = (JSON.parse(json) as Readonly<Record<string, RawSystem>>)[name];
  if (raw === undefined) return undefined;
  const { gpu, node, misc } = raw;
  const perNode = node['num_gpus_per_node'] ?? 8;
  const isRack = node['num_gpus_per_rack'] !== undefined;
  return {
    name,
    memoryBytesPerSecond: gpu['mem_bw']!,
    elementwise: {
      memoryShare: gpu['mem_bw_empirical_scaling_factor']!,
      latencyUs: gpu['mem_empirical_constant_latency']! * 1e6,
    },
    flops: {
      bf16: gpu['bfloat16_tc_flops']!,
      fp8: gpu['fp8_tc_flops'] ?? 0,
      fp4: gpu['fp4_tc_flops'] ?? 0,
    },
    smVersion: gpu['sm_version']!,
    gpusPerNode: perNode,
    gpusPerRack: node['num_gpus_per_rack'] ?? perNode,
    nodeBytesPerSecond: node['intra_node_bw']!,
    rackBytesPerSecond: isRack ? node['inter_node_bw']! : node['intra_node_bw']!,
    fabricBytesPerSecond: (isRack ? node['inter_rack_bw'] : node['inter_node_bw'])!,
    ncclBytes: misc.nccl_mem,
  };
}

/** Figures that a system needs to compose its operators. */
const NEEDED = [
  ...['gpu.mem_bw', 'gpu.mem_bw_empirical_scaling_factor', 'gpu.mem_empirical_constant_latency'],
  ...['gpu.bfloat16_tc_flops', 'gpu.sm_version', 'node.num_gpus_per_node'],
  ...['node.intra_node_bw', 'node.inter_node_bw'],
];

/** The first figure that a user's system lacks. Undefined when it is complete. */
export function missingFigure(system: unknown): string | undefined {
  const at = (path: string): unknown =>
    path.split('.').reduce<unknown>((inner, key) => fieldsIn(inner)[key], system);
  const isFigure = (value: unknown): boolean => typeof value === 'number' && value > 0;
  const missing = NEEDED.find((path) => !isFigure(at(path)));
  return missing ?? (isObject(at('misc.nccl_mem')) ? undefined : 'misc.nccl_mem');
}

/** Time of an elementwise kernel that moves this many bytes, µs. */
export function elementwiseUs(system: SystemFacts, bytes: number): number {
  const { memoryShare, latencyUs } = system.elementwise;
  return (bytes / (memoryShare * system.memoryBytesPerSecond)) * 1e6 + latencyUs;
}

/** The longer of computing and moving bytes at the data sheet's rates, µs. */
export function speedOfLightUs(system: SystemFacts, work: SpeedOfLightWork): number {
  return 1e6 * Math.max(work.flops / work.peak, work.bytes / system.memoryBytesPerSecond);
}

export interface SpeedOfLightWork {
  readonly flops: number;
  /** FLOP/s of the units that compute it. */
  readonly peak: number;
  readonly bytes: number;
}
