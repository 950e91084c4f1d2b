import { expertHidden, expertLayers } from '@baton/hardware';
import { FUSIONS } from './framework';
import { isNormQuantising, type StepParts } from './step-parts';

/** Elements of two bytes in a MiB. */
const MIB = 2 ** 19;

/**
 * Largest message that vLLM adds the residual to and norms within the all-reduce, MiB, by compute
 * capability and GPUs (`FI_ALLREDUCE_FUSION_MAX_SIZE_MB`, docs of `PassConfig`).
 */
const LARGEST_MIB: Readonly<Record<number, Readonly<Record<number, number>>>> = {
  90: { 2: 64, 4: 2, 8: 1 },
  100: { 2: 64, 4: 32, 8: 1 },
  103: { 2: 64, 4: 32, 8: 1 },
};

/** Most tokens of a step whose norms are part of its all-reduces; 0: they are kernels. */
export function tokensNormedInAllReduce(parts: StepParts): number {
  const { placement, tables, framework } = parts;
  if (FUSIONS[framework].isNormInAllReduce) return isNormQuantising(parts) ? Infinity : 0;
  const largest = LARGEST_MIB[tables.system.smVersion]?.[placement.tp];
  if (framework !== 'vllm' || largest === undefined || !isFusedByVllm(parts)) return 0;
  return (largest * MIB) / placement.model.hidden;
}

/**
 * First minor version of vLLM that removes the padding of experts before their all-reduce; earlier
 * ones remove it afterwards.
 */
const CUT_BEFORE_REDUCE_FROM_MINOR = 12;

/**
 * Norms of a step that run as kernels of their own while the others are fused with the all-reduce.
 * vLLM did not fuse an all-reduce and its norm when the removal of padding was between them
 * (https://github.com/vllm-project/vllm/pull/28841).
 */
export function normsApart({ placement, framework, vllmMinor }: StepParts): number {
  const { model, gpu } = placement;
  if (framework !== 'vllm' || vllmMinor >= CUT_BEFORE_REDUCE_FROM_MINOR) return 0;
  return expertHidden(model, gpu) === model.hidden ? 0 : expertLayers(model);
}

/** `fuse_allreduce_rms`: vllm-project/vllm#37755 for B300, #41458 beside ranks and in stages. */
function isFusedByVllm({ placement, tables, vllmMinor, isNormInAllReduce }: StepParts): boolean {
  const isOneOfSeveral = (placement.dp ?? 1) > 1 || placement.model.stage !== undefined;
  const since = isOneOfSeveral ? 21 : tables.system.smVersion === 103 ? 19 : 16;
  return isNormInAllReduce ?? vllmMinor >= since;
}
