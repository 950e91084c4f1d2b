import type { EnginePlacement } from '../engine-placement';
import { hasOutputHead, type ModelGeometry } from '../model/model-geometry';
import { type CudaGraphOptions, cudaGraphSizes } from './cuda-graph-sizes';

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const ACTIVATION_BYTES = 2;

/** The y of the vLLM 0.y whose memory is modelled by default. */
export const VLLM_MINOR = 30;
/**
 * First version in which vLLM estimates CUDA graphs before it sizes the KV cache ("since v0.21.0").
 */
const ESTIMATES_GRAPHS_FROM_MINOR = 21;

/** The trial step of vLLM before it sizes the KV cache. */
export interface ProfileRun extends EnginePlacement, CudaGraphOptions {
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  /** The y of vLLM 0.y. */
  readonly vllmMinor: number;
}

/**
 * Bytes of one GPU that are neither weights nor KV cache: those that vLLM's
 * `determine_available_memory` finds by one step of `max_num_batched_tokens` with a sample of
 * `max_num_seqs`, and those outside torch. The README of data/measured/kv-capacity lists each
 * log and the error.
 */
export function reservedBytes(run: ProfileRun): number {
  const graphs = run.vllmMinor >= ESTIMATES_GRAPHS_FROM_MINOR ? graphBytes(run) : 0;
  const sampler = hasOutputHead(run.model) ? samplerBytes(run) : 0;
  return outsideTorchBytes(run) + Math.max(forwardBytes(run), sampler) + graphs;
}

/** "Non-torch forward increase": 0.13 to 0.14 GiB in logs with one GPU per engine. */
const CONTEXT_BYTES = 0.135 * GIB;
/** `nccl_mem` of AIConfigurator's systems.json; from 0.21 on NCCL starts before the count. */
const NCCL_BYTES = { two: 358_612_992, more: 411_041_792 } as const;

function outsideTorchBytes({ tp, pp = 1, dp = 1, vllmMinor }: ProfileRun): number {
  const gpus = tp * pp * dp;
  if (gpus === 1 || vllmMinor >= ESTIMATES_GRAPHS_FROM_MINOR) return CONTEXT_BYTES;
  return CONTEXT_BYTES + (gpus === 2 ? NCCL_BYTES.two : NCCL_BYTES.more);
}

/**
 * First version with masks of top-k and top-p by a Triton kernel (vllm-project/vllm#33538). Earlier
 * ones sort.
 */
const MASKS_BY_KERNEL_FROM_MINOR = 17;

/**
 * Bytes per sequence and entry of the vocabulary while the sampler draws from dummy logits. Sorting
 * takes 38.2 to 38.4 in eight logs of 0.11 with three vocabularies. A kernel takes 17 to 23 in two
 * logs of 0.30: logits in 16 and 32 bits, probabilities, noise and the buffer of the kernel.
 */
const SAMPLER_BYTES = { sorting: 38.3, kernel: 20 } as const;

function samplerBytes(run: ProfileRun): number {
  const { model, maxNumSeqs, maxNumBatchedTokens: tokens, vllmMinor } = run;
  const { sorting, kernel } = SAMPLER_BYTES;
  const each = vllmMinor >= MASKS_BY_KERNEL_FROM_MINOR ? kernel : sorting;
  const sampled = Math.min(maxNumSeqs, tokens) * model.vocabulary * each;
  return sampled + tokens * model.hidden * ACTIVATION_BYTES;
}

/**
 * Activations at the widest place of a layer: hidden state and residual, and beside them either
 * queries, keys, values and the output of attention, or the activations of the feed-forward.
 */
function forwardBytes(run: ProfileRun): number {
  const { model, tp, maxNumBatchedTokens: tokens } = run;
  const residual = 2 * model.hidden * tokens;
  const dense = 3 * (model.intermediate / tp) * tokens;
  const widest = Math.max(attentionWidth(model) * (tokens / tp), dense, expertElements(run));
  return (residual + widest) * ACTIVATION_BYTES;
}

function attentionWidth({ attention, heads }: ModelGeometry): number {
  if (attention.kind === 'grouped') return (2 * heads + 2 * attention.kvHeads) * attention.headDim;
  const { nopeDim, ropeDim, valueDim } = attention;
  return heads * (2 * (nopeDim + ropeDim) + 2 * valueDim);
}

/** Tokens that vLLM's fused experts take at a time (`VLLM_FUSED_MOE_CHUNK_SIZE`). */
const EXPERT_CHUNK_TOKENS = 16_384;

/** Buffers of the fused experts: gate and up or, in their place, the output; and the product. */
function expertElements({ model, tp, dp = 1, maxNumBatchedTokens, ...run }: ProfileRun): number {
  if (!model.experts) return 0;
  const { activeExperts, expertIntermediate } = model.experts;
  const width = run.expertParallel ? expertIntermediate : expertIntermediate / (tp * dp);
  const tokens = Math.min(maxNumBatchedTokens * dp, EXPERT_CHUNK_TOKENS);
  return tokens * activeExperts * (Math.max(2 * width, model.hidden) + width);
}

/**
 * The pool that all graphs share, and the part of each graph. Logged estimates: 0.36 GiB for 2
 * graphs, 0.36 for 16, 0.55 for 8, 0.61 for 9, 0.73 for 86, 0.58 for 136.
 */
const GRAPH_POOL_BYTES = 0.4 * GIB;
const BYTES_PER_GRAPH = 3 * MIB;

/** Piecewise graphs serve any step; full graphs serve steps that only decode. */
function graphBytes(run: ProfileRun): number {
  const piecewise = cudaGraphSizes(run);
  if (piecewise.length === 0) return 0;
  const whole = piecewise.filter((size) => size <= run.maxNumSeqs);
  return GRAPH_POOL_BYTES + (piecewise.length + whole.length) * BYTES_PER_GRAPH;
}
