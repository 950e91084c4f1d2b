import { expertLayers, type WeightFormat } from '@baton/hardware';
import { elementwiseUs } from '../operators/system-facts';
import type { Linear, StepParts } from './step-parts';

/**
 * The tables of these formats time experts that were chosen before (AIConfigurator,
 * collector/vllm/collect_moe.py); that of MXFP4 chooses them, that of NVFP4 packs the choice.
 */
const CHOSEN_BEFORE: readonly WeightFormat[] = [
  ...(['bf16', 'fp8', 'fp8_static', 'fp8_block', 'int4', 'int4_group32'] as const),
];
const SCORE_BYTES = 4;

/** Choosing the experts of all layers, one kernel in each (`topk_softmax`), µs by tokens. */
export function expertChoice({ placement: { model }, tables }: StepParts): Linear {
  const { experts, precision } = model;
  if (experts === undefined || !CHOSEN_BEFORE.includes(precision.experts)) return () => 0;
  const bytes = SCORE_BYTES * (experts.experts + 2 * experts.activeExperts);
  return (tokens) => expertLayers(model) * elementwiseUs(tables.system, bytes * tokens);
}
