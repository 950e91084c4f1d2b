import { checkParallel, type EnginePlacement, tensorParallelDegrees } from './engine-placement';
import { HardwareError } from './hardware-error';
import {
  kvElementBytes,
  type ModelGeometry,
  routedParameters,
  weightBytes,
} from './model/model-geometry';
import { WEIGHT_BYTES } from './model/precision';

/**
 * Activations, graphs and buffers of vLLM per GPU; the constant with which the capacities of
 * data/profiles were computed.
 */
const RESERVED_BYTES_PER_GPU = 2e9;

/**
 * Bytes of KV per token of context: `2 · layers · kv_heads · head_dim · 2 B`, or for latent
 * attention `layers · (kv_rank + rope_dim) · 2 B`. Sliding-window layers are left out, because what
 * they keep does not grow with the context (vLLM frees what falls out of the window): at most
 * `window` tokens per sequence are missed.
 *
 * @param tp without it, each KV head counts once (what has to cross the wire in all). With it:
 * bytes on one GPU, that is 1/tp, but never less than one KV head, and latent vectors whole. Ranks
 * transfer side by side, each over its own port.
 */
export function kvBytesPerToken(model: ModelGeometry, tp = 1): number {
  const { attention, layers } = model;
  if (attention.kind === 'latent') {
    return layers * (attention.kvRank + attention.ropeDim) * kvElementBytes(model);
  }
  const growing = layers - (attention.slidingWindow?.layers ?? 0);
  const heads = Math.max(1, attention.kvHeads / tp);
  return 2 * growing * heads * attention.headDim * kvElementBytes(model);
}

export interface KvCapacityQuery extends EnginePlacement {
  /** Share of GPU memory that the engine may use, 0..1 (vLLM: 0.9). */
  readonly gpuMemoryUtilization: number;
  /** Tokens per block. */
  readonly blockSize: number;
}

/**
 * KV blocks of an engine: `floor((memory · utilisation − weights on one GPU − 2 GB) / (KV bytes per
 * token and GPU · block size))`.
 *
 * @throws HardwareError `bad-tensor-parallel`, `bad-expert-parallel`, or `does-not-fit` when there
 *   is no room for a single block
 */
export function kvCapacityBlocks(query: KvCapacityQuery): number {
  checkParallel(query);
  const blocks = blocksOf(query);
  if (blocks >= 1) return blocks;
  const { model, gpu, tp, dp = 1 } = query;
  const gib = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
  throw new HardwareError(
    'does-not-fit',
    `${model.name} needs ${gib(weightBytesPerGpu(query))} GiB of weights on each of ${tp * dp} ` +
      `${gpu.name}, where ${gib(Math.max(0, usableBytes(query)))} GiB are usable; ` +
      `${remedyOf(query)}.`,
  );
}

function blocksOf(query: KvCapacityQuery): number {
  const room = usableBytes(query) - weightBytesPerGpu(query);
  return Math.floor(room / (kvBytesPerToken(query.model, query.tp) * query.blockSize));
}

function usableBytes({ gpu, gpuMemoryUtilization }: KvCapacityQuery): number {
  return gpu.memoryBytes * gpuMemoryUtilization - RESERVED_BYTES_PER_GPU;
}

/** The smallest engine of the same GPUs that would do. */
function remedyOf(query: KvCapacityQuery): string {
  const { model, gpu } = query;
  const tp = tensorParallelDegrees(model).find((degree) => blocksOf({ ...query, tp: degree }) >= 1);
  if (tp === undefined) return 'no engine of one node of these GPUs would do, take a larger GPU';
  return `tensor_parallel_size ${tp} would do, which is ${tp * (query.dp ?? 1)} ${gpu.name} in all`;
}

/**
 * A tp-th of everything, but experts that data-parallel ranks share are spread over all of them.
 */
function weightBytesPerGpu({ model, tp, dp = 1 }: EnginePlacement): number {
  const experts = routedParameters(model) * WEIGHT_BYTES[model.precision.experts];
  return (weightBytes(model) - experts) / tp + experts / (tp * dp);
}
