import {
  checkParallel,
  engineGpus,
  type EnginePlacement,
  tensorParallelDegrees,
} from '../engine-placement';
import { schedulerDefaults } from '../gpu/scheduler-defaults';
import { HardwareError } from '../hardware-error';
import { stagesOf } from '../pipeline-stages';
import { kvBytesPerLayer, type KvLayerGroups, kvGroupsOf, layersPerBlock } from './kv-groups';
import type { CudaGraphOptions } from './cuda-graph-sizes';
import { reservedBytes, VLLM_MINOR } from './profile-run';
import { weightBytesPerGpu } from './weights-per-gpu';

export interface KvCapacityQuery extends EnginePlacement, CudaGraphOptions {
  /** Share of GPU memory that the engine may use, 0..1 (vLLM: 0.9). */
  readonly gpuMemoryUtilization: number;
  /** Tokens per block. */
  readonly blockSize: number;
  /** Maximum number of sequences and tokens of a step. Default: vLLM's for the GPU. */
  readonly maxNumSeqs?: number | undefined;
  readonly maxNumBatchedTokens?: number | undefined;
  /** The y of the vLLM 0.y whose memory is modelled. Default: 30. */
  readonly vllmMinor?: number | undefined;
}

/** Numbers of pipeline stages that are suggested for a model that no node can hold. */
const PIPELINES = [2, 4, 8] as const;

/** Number of blocks without KV in each engine: vLLM's `BlockPool.null_block`. */
export const NULL_BLOCKS = 1;

/**
 * KV blocks of an engine, the null block among them, as vLLM finds them by a trial step:
 * `floor((shown memory · utilisation − weights − reserved) / (KV bytes of a token and layer ·
 * layers of a group · block size))`, all on one GPU, with the groups of `kvGroupsOf`. The pipeline
 * stage with the fewest blocks decides (vLLM's `get_kv_cache_configs`). Known errors are in the
 * README of data/measured/kv-capacity: below 2 % where KV has half the memory or more, except for
 * one log, and some tenths of a GiB in any case.
 *
 * @throws HardwareError `bad-tensor-parallel`, `bad-pipeline-parallel`, `bad-expert-parallel`, or
 * `does-not-fit` when there is no room for a single block beside the null block
 */
export function kvCapacityBlocks(query: KvCapacityQuery): number {
  checkParallel(query);
  const blocks = blocksOf(query);
  if (blocks > NULL_BLOCKS) return blocks;
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

interface StageQuery extends KvCapacityQuery {
  /** The groups of the whole model. */
  readonly groups: KvLayerGroups | undefined;
}

/** The stage with room for the fewest blocks. An engine with one stage is that stage. */
function fullestStage(query: KvCapacityQuery): StageQuery {
  const groups = kvGroupsOf(query.model);
  const stages = stagesOf(query).map(({ model }) => ({ ...query, model, groups }));
  return stages.reduce((fullest, stage) =>
    stageBlocks(stage) < stageBlocks(fullest) ? stage : fullest,
  );
}

function stageBlocks(query: StageQuery): number {
  const { model, tp, blockSize, groups } = query;
  const room = usableBytes(query) - weightBytesPerGpu(query);
  const bytesPerToken = layersPerBlock(model, groups) * kvBytesPerLayer(model, tp);
  return Math.floor(room / (bytesPerToken * blockSize));
}

/** Bytes of one GPU for weights and KV. */
function usableBytes(query: KvCapacityQuery): number {
  const { gpu, gpuMemoryUtilization, vllmMinor = VLLM_MINOR } = query;
  const limits = schedulerDefaults(gpu);
  const { maxNumSeqs = limits.maxNumSeqs } = query;
  const { maxNumBatchedTokens = limits.maxNumBatchedTokens } = query;
  const reserved = reservedBytes({ ...query, maxNumSeqs, maxNumBatchedTokens, vllmMinor });
  return gpu.shownMemoryBytes * gpuMemoryUtilization - reserved;
}

/** The smallest engine of the same GPUs that fits the model, of one node if there is one. */
function remedyOf(query: KvCapacityQuery): string {
  const { model, gpu, pp, dp = 1 } = query;
  const degrees = tensorParallelDegrees(model);
  const isEnough = (size: Pick<KvCapacityQuery, 'tp' | 'pp'>): boolean =>
    blocksOf({ ...query, ...size }) > NULL_BLOCKS;
  const tp = degrees.find((degree) => isEnough({ tp: degree, pp }));
  if (tp !== undefined) {
    const gpus = engineGpus({ tp, pp }) * dp;
    return `tensor_parallel_size ${tp} would do, which is ${gpus} ${gpu.name} per engine`;
  }
  const none = 'no engine of one node of these GPUs is large enough';
  const widest = degrees.at(-1)!;
  const isStageable = (stages: number): boolean =>
    dp === 1 && stages <= model.layers && isEnough({ tp: widest, pp: stages });
  const stages = PIPELINES.find(isStageable);
  if (stages === undefined) return `${none}; use a larger GPU`;
  return (
    `${none}; an aggregated one with tensor_parallel_size ${widest} and ` +
    `pipeline_parallel_size ${stages} would be, which is ${widest * stages} ${gpu.name}`
  );
}
