import {
  checkParallel,
  engineGpus,
  type EnginePlacement,
  tensorParallelDegrees,
} from '../engine-placement';
import { schedulerDefaults } from '../gpu/scheduler-defaults';
import { HardwareError } from '../hardware-error';
import { stagesOf } from '../pipeline-stages';
import { kvElementBytes, type ModelGeometry } from '../model/model-geometry';
import { reservedBytes, VLLM_MINOR } from './profile-run';
import { weightBytesPerGpu } from './weights-per-gpu';

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
  /** Sequences and tokens of a step at most; unset: vLLM's defaults for the GPU. */
  readonly maxNumSeqs?: number | undefined;
  readonly maxNumBatchedTokens?: number | undefined;
  /** The y of the vLLM 0.y whose memory is modelled; unset: 30. */
  readonly vllmMinor?: number | undefined;
}

/**
 * KV blocks of an engine, as vLLM finds them by a trial step: `floor((shown memory · utilisation −
 * weights − reserved) / (KV bytes per token · block size))`, all on one GPU. Of pipeline stages the
 * one with the fewest blocks decides (vLLM's `get_kv_cache_configs`). Known errors are in
 * the README of data/measured/kv-capacity: below 2 % where KV has half the memory or more, but for
 * one log, and some tenths of a GiB in any case.
 *
 * @throws HardwareError `bad-tensor-parallel`, `bad-pipeline-parallel`, `bad-expert-parallel`, or
 *   `does-not-fit` when there is no room for a single block
 */
export function kvCapacityBlocks(query: KvCapacityQuery): number {
  checkParallel(query);
  const blocks = blocksOf(query);
  if (blocks >= 1) return blocks;
  const { model, gpu, dp = 1 } = query;
  const fullest = fullestStage(query);
  const gib = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
  throw new HardwareError(
    'does-not-fit',
    `${model.name} needs ${gib(weightBytesPerGpu(fullest))} GiB of weights on each of ` +
      `${engineGpus(query) * dp} ${gpu.name}, where ` +
      `${gib(Math.max(0, usableBytes(fullest)))} GiB are usable; ` +
      `${remedyOf(query)}.`,
  );
}

function blocksOf(query: KvCapacityQuery): number {
  return stageBlocks(fullestStage(query));
}

/** The stage that has room for the fewest blocks; the engine itself when it has one. */
function fullestStage(query: KvCapacityQuery): KvCapacityQuery {
  const stages = stagesOf(query).map((stage) => ({ ...query, model: stage.model }));
  return stages.reduce((fullest, stage) =>
    stageBlocks(stage) < stageBlocks(fullest) ? stage : fullest,
  );
}

function stageBlocks(query: KvCapacityQuery): number {
  const room = usableBytes(query) - weightBytesPerGpu(query);
  return Math.floor(room / (kvBytesPerToken(query.model, query.tp) * query.blockSize));
}

/** For weights and KV. */
function usableBytes(query: KvCapacityQuery): number {
  const { gpu, gpuMemoryUtilization, vllmMinor = VLLM_MINOR } = query;
  const limits = schedulerDefaults(gpu);
  const { maxNumSeqs = limits.maxNumSeqs } = query;
  const { maxNumBatchedTokens = limits.maxNumBatchedTokens } = query;
  const reserved = reservedBytes({ ...query, maxNumSeqs, maxNumBatchedTokens, vllmMinor });
  return gpu.shownMemoryBytes * gpuMemoryUtilization - reserved;
}

/** The smallest engine of the same GPUs that would do. */
function remedyOf(query: KvCapacityQuery): string {
  const { model, gpu, pp, dp = 1 } = query;
  const tp = tensorParallelDegrees(model).find((degree) => blocksOf({ ...query, tp: degree }) >= 1);
  if (tp === undefined) return 'no engine of one node of these GPUs would do, take a larger GPU';
  const gpus = engineGpus({ tp, pp }) * dp;
  return `tensor_parallel_size ${tp} would do, which is ${gpus} ${gpu.name} in all`;
}
