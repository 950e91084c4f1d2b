import { expertHidden, expertLayers } from '@baton/hardware';
import { elementwiseUs } from '../operators/system-facts';
import type { Linear, StepParts } from './step-parts';

const ACTIVATION_BYTES = 2;

/**
 * Kernels that widen the input of experts and cut their output to the hidden size of the model, in
 * all layers, µs by tokens. They are kernels of their own where norms are part of the all-reduce
 * (the graphs in https://github.com/vllm-project/vllm/pull/28841), and parts of the norms' kernels
 * elsewhere.
 */
export function paddingOfExperts({ placement, tables, framework }: StepParts): Linear {
  const { model, gpu } = placement;
  const wide = expertHidden(model, gpu);
  if (framework !== 'vllm' || wide === model.hidden) return () => 0;
  const us = (elements: number) => elementwiseUs(tables.system, ACTIVATION_BYTES * elements);
  const [widened, cut] = [model.hidden + wide, 2 * model.hidden];
  return (tokens) => expertLayers(model) * (us(widened * tokens) + us(cut * tokens));
}
