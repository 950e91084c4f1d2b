import type { Gpu } from './gpu/gpu';
import { HardwareError } from './hardware-error';
import type { Link } from './link/link';
import type { ModelGeometry } from './model/model-geometry';

/**
 * The placement of one engine: a model spread over `tp · pp` GPUs of one kind. Data-parallel ranks
 * have separate attention and share the experts.
 */
export interface EnginePlacement {
  readonly model: ModelGeometry;
  readonly gpu: Gpu;
  /** Tensor-parallel degree. */
  readonly tp: number;
  /** Pipeline stages, each of `tp` GPUs. Default: 1. */
  readonly pp?: number | undefined;
  /**
   * Data-parallel ranks, this engine included. Default: 1. Experts are spread over tp · dp GPUs.
   */
  readonly dp?: number | undefined;
  /**
   * vLLM's `--enable-expert-parallel`. True: a GPU holds whole experts, and tokens are sent to
   * them. False: each expert is split over all tp · dp GPUs, and the tokens of all ranks are
   * gathered.
   */
  readonly expertParallel?: boolean | undefined;
  /** Link between ranks on different nodes. Default: InfiniBand NDR. */
  readonly fabric?: Link | undefined;
}

/** Number of GPUs that are connected by the interconnect rather than the fabric. */
export const GPUS_PER_NODE = 8;

/** GPUs of one engine. */
export function engineGpus({ tp, pp = 1 }: Pick<EnginePlacement, 'tp' | 'pp'>): number {
  return tp * pp;
}

/** Number of GPUs over which the experts of a layer are spread. */
export function expertGroupOf({ tp, dp = 1 }: EnginePlacement): number {
  return tp * dp;
}

/**
 * Checks that the model can be spread: query heads divide evenly, KV heads divide evenly or are
 * copied whole, each pipeline stage has a layer, and each GPU of an expert-parallel group gets an
 * expert.
 *
 * @throws HardwareError `bad-tensor-parallel`, `bad-pipeline-parallel`, `bad-expert-parallel`
 */
export function checkParallel(placement: EnginePlacement): void {
  checkTensorParallel(placement.model, placement.tp);
  checkPipelineParallel(placement);
  if (placement.expertParallel) checkExpertParallel(placement);
}

/** @throws HardwareError `bad-tensor-parallel` */
export function checkTensorParallel(model: ModelGeometry, tp: number): void {
  const allowed = tensorParallelDegrees(model);
  if (allowed.includes(tp)) return;
  const why =
    tp > GPUS_PER_NODE
      ? `${model.name} cannot be spread over ${tp} GPUs: tensor parallelism is simulated within ` +
        `a node of ${GPUS_PER_NODE} GPUs. For more GPUs add pipeline_parallel_size, or ` +
        'data_parallel_size for a mixture of experts.'
      : `${model.name} has ${headsOf(model)}, which cannot be spread over ${tp} GPUs.`;
  throw new HardwareError(
    'bad-tensor-parallel',
    `${why} Possible tensor_parallel_size: ${allowed.join(', ')}.`,
  );
}

function headsOf({ heads, attention }: ModelGeometry): string {
  if (attention.kind === 'latent') return `${heads} attention heads`;
  return `${heads} attention and ${attention.kvHeads} KV heads`;
}

/** @throws HardwareError `bad-pipeline-parallel` when a stage would have no layer */
export function checkPipelineParallel({ model, pp = 1 }: EnginePlacement): void {
  if (model.stage !== undefined || pp <= model.layers) return;
  throw new HardwareError(
    'bad-pipeline-parallel',
    `${model.name} has ${model.layers} layers, which cannot be spread over ${pp} pipeline ` +
      `stages: pipeline_parallel_size can be ${model.layers} at most.`,
  );
}

/** Degrees of one node. Wider engines use pipeline stages. */
export function tensorParallelDegrees({ attention, heads }: ModelGeometry): number[] {
  const kvHeads = attention.kind === 'grouped' ? attention.kvHeads : 1;
  const all = Array.from({ length: GPUS_PER_NODE }, (_, i) => i + 1);
  return all.filter((tp) => heads % tp === 0 && (kvHeads % tp === 0 || tp % kvHeads === 0));
}

function checkExpertParallel(placement: EnginePlacement): void {
  const { model } = placement;
  const group = expertGroupOf(placement);
  const experts = model.experts?.experts ?? 0;
  if (experts >= group) return;
  const has = experts === 0 ? 'has no experts' : `has ${experts} experts`;
  throw new HardwareError(
    'bad-expert-parallel',
    `${model.name} ${has}, which cannot be spread over ${group} GPUs ` +
      '(tensor_parallel_size times data_parallel_size).',
  );
}
