import type { Gpu } from './gpu/gpu';
import { HardwareError } from './hardware-error';
import type { ModelGeometry } from './model/model-geometry';

/** What one engine consists of: a model spread over `tp` GPUs of one kind. */
export interface EnginePlacement {
  readonly model: ModelGeometry;
  readonly gpu: Gpu;
  /** Tensor-parallel degree. */
  readonly tp: number;
}

/** One node; wider engines need pipeline or expert parallelism, which is not modelled. */
const MAX_TENSOR_PARALLEL = 8;

/**
 * Checks that the heads can be spread: query heads divide evenly, KV heads divide evenly or are
 * copied whole.
 *
 * @throws HardwareError `bad-tensor-parallel`
 */
export function checkTensorParallel(model: ModelGeometry, tp: number): void {
  const kvHeads = model.attention.kind === 'grouped' ? model.attention.kvHeads : 1;
  const allowed = allowedDegrees(model.heads, kvHeads);
  if (allowed.includes(tp)) return;
  throw new HardwareError(
    'bad-tensor-parallel',
    `${model.name} has ${model.heads} attention and ${kvHeads} KV heads, which cannot be spread over ` +
      `${tp} GPUs. Possible: ${allowed.join(', ')}.`,
  );
}

function allowedDegrees(heads: number, kvHeads: number): number[] {
  const all = Array.from({ length: MAX_TENSOR_PARALLEL }, (_, i) => i + 1);
  return all.filter((tp) => heads % tp === 0 && (kvHeads % tp === 0 || tp % kvHeads === 0));
}
