import { elementwiseUs } from '../operators/system-facts';
import type { Linear, StepParts } from './step-parts';

const LOGIT_BYTES = 2;
const FLOAT_BYTES = 4;

/**
 * From the logits of each GPU to tokens, µs by rows: gathering the vocabulary, widening to 32 bits,
 * and finding the largest (vLLM's `LogitsProcessor` and `Sampler`, greedy).
 */
export function samplerOf({ placement, tables }: StepParts): Linear {
  const { model, tp } = placement;
  const gather = tp > 1 ? tables.nccl('all_gather') : undefined;
  const us = (bytes: number) => elementwiseUs(tables.system, bytes * model.vocabulary);
  return (rows) =>
    (gather?.timeUs(tp, rows * model.vocabulary) ?? 0) +
    us(rows * (LOGIT_BYTES + FLOAT_BYTES)) +
    us(rows * FLOAT_BYTES);
}
