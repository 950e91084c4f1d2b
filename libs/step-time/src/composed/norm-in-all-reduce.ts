import { FUSIONS } from './framework';
import { isNormQuantising, type StepParts } from './step-parts';

const MIB = 2 ** 20;
const ACTIVATION_BYTES = 2;

/**
 * Largest message that vLLM adds the residual to and norms within the all-reduce, MiB, by compute
 * capability and GPUs (`FI_ALLREDUCE_FUSION_MAX_SIZE_MB`, docs of `PassConfig`).
 */
const LARGEST_MIB: Readonly<Record<number, Readonly<Record<number, number>>>> = {
  90: { 2: 64, 4: 2, 8: 1 },
  100: { 2: 64, 4: 32, 8: 1 },
  103: { 2: 64, 4: 32, 8: 1 },
};

/**
 * From when on `fuse_allreduce_rms` is vLLM's default; on B300 (vllm-project/vllm#37755); beside
 * data-parallel ranks and in pipeline stages (vllm-project/vllm#41458).
 */
const SINCE_MINOR = { usually: 16, b300: 19, several: 21 } as const;

/** Most tokens of a step whose norms are part of its all-reduces; 0: they are kernels. */
export function tokensNormedInAllReduce(parts: StepParts): number {
  const { placement, tables, framework } = parts;
  const { model, tp } = placement;
  if (FUSIONS[framework].isNormInAllReduce) return isNormQuantising(parts) ? Infinity : 0;
  const largest = LARGEST_MIB[tables.system.smVersion]?.[tp];
  if (framework !== 'vllm' || largest === undefined || !isFusedByVllm(parts)) return 0;
  return (largest * MIB) / (ACTIVATION_BYTES * model.hidden);
}

function isFusedByVllm({ placement, tables, vllmMinor, isNormInAllReduce }: StepParts): boolean {
  if (isNormInAllReduce !== undefined) return isNormInAllReduce;
  const isB300 = tables.system.smVersion === 103;
  const since = Math.max(
    SINCE_MINOR.usually,
    isB300 ? SINCE_MINOR.b300 : 0,
    isOneOfSeveral(placement) ? SINCE_MINOR.several : 0,
  );
  return vllmMinor >= since;
}

function isOneOfSeveral({ model, dp = 1 }: StepParts['placement']): boolean {
  return dp > 1 || model.stage !== undefined;
}
