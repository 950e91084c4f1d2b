import type { Gpu } from '../gpu/gpu';
import { HardwareError } from '../hardware-error';

/** The options that set the sizes of an engine's CUDA graphs, by vLLM's names. */
export interface CudaGraphOptions {
  /** True: no graphs at all. Default: false. */
  readonly enforceEager?: boolean | undefined;
  /** Tokens of a batch, in any order, such as `1,2,4,8`. Default: vLLM's. */
  readonly cudagraphCaptureSizes?: string | undefined;
  /** The largest of vLLM's sizes. Default: vLLM's. */
  readonly maxCudagraphCaptureSize?: number | undefined;
}

export interface CudaGraphQuery extends CudaGraphOptions {
  readonly gpu: Gpu;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
}

const LARGEST = 512;
/** CUDA compute capability 10.x: B200, B300, GB200, GB300. */
const LARGEST_ON_BLACKWELL = 1024;

/**
 * Tokens of the batches for which vLLM 0.30 captures CUDA graphs, rising
 * (`VllmConfig._set_cudagraph_sizes`): 1, 2, 4, from 8 in steps of 8, from 256 in steps of 16, up
 * to `min(2 · max_num_seqs, 512)`, or 1024 on data-center Blackwell, and `max_num_batched_tokens`
 * itself where that is smaller. A batch is padded to the next size; above the largest size it runs
 * without a graph, unpadded. Sizes that drafts add are left out.
 *
 * @throws HardwareError `bad-cuda-graphs`
 */
export function cudaGraphSizes(query: CudaGraphQuery): readonly number[] {
  const { enforceEager = false, cudagraphCaptureSizes, maxNumBatchedTokens } = query;
  if (enforceEager) return [];
  if (cudagraphCaptureSizes !== undefined) return givenSizes(cudagraphCaptureSizes, query);
  const largest = Math.min(query.maxCudagraphCaptureSize ?? largestOf(query), maxNumBatchedTokens);
  const sizes = [1, 2, 4].filter((size) => size <= largest);
  for (let size = 8; size <= largest; size += size < 256 ? 8 : 16) sizes.push(size);
  if (largest === maxNumBatchedTokens && sizes.at(-1) !== largest) sizes.push(largest);
  return sizes;
}

function largestOf({ gpu, maxNumSeqs }: CudaGraphQuery): number {
  const isBlackwell = gpu.fp4Factor !== undefined && gpu.interconnect.kind === 'nvlink';
  return Math.min(2 * maxNumSeqs, isBlackwell ? LARGEST_ON_BLACKWELL : LARGEST);
}

function givenSizes(text: string, query: CudaGraphQuery): readonly number[] {
  const given = text.split(/[\s,]+/).map(Number);
  if (!given.every((size) => Number.isInteger(size) && size >= 1 && size <= 65_535)) {
    throw new HardwareError(
      'bad-cuda-graphs',
      `cudagraph_capture_sizes must be integers from 1 to 65535, such as 1,2,4,8, not '${text}'.`,
    );
  }
  const { maxNumBatchedTokens, maxCudagraphCaptureSize: largest } = query;
  const fitting = [...new Set(given)].filter((size) => size <= maxNumBatchedTokens);
  const sizes = fitting.sort((a, b) => a - b);
  if (largest === undefined || largest === (sizes.at(-1) ?? 0)) return sizes;
  throw new HardwareError(
    'bad-cuda-graphs',
    `max_cudagraph_capture_size (${largest}) must be the largest of cudagraph_capture_sizes up ` +
      `to max_num_batched_tokens (${sizes.at(-1) ?? 0}).`,
  );
}
