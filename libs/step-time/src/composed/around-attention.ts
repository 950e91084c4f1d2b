import type { GroupedAttention } from '@baton/hardware';
import { elementwiseUs } from '../operators/system-facts';
import { FUSIONS } from './framework';
import { type Linear, needed, type StepParts } from './step-parts';

const ACTIVATION_BYTES = 2;
/** Variances of queries and of keys, in elements of two bytes. */
const VARIANCE_ELEMENTS = 4;

/**
 * Kernels of one layer between the projection and attention, µs by tokens of the step. The tables
 * time attention's `forward` alone, after rotation and quantisation and beside the write to the
 * cache (AIConfigurator, collector/vllm/collect_attn.py); blocks of latent attention have them
 * inside.
 */
export function aroundAttention(parts: StepParts): Linear {
  const { attention } = parts.placement.model;
  if (attention.kind === 'latent') return () => 0;
  const normUs = normOfAllHeads(parts);
  const writeUs = rotationAndWrite(parts, attention);
  return (tokens) => normUs(tokens) + writeUs(tokens);
}

/** Rotary embedding with the norms of each head in one kernel, the write to the cache in one. */
function rotationAndWrite({ tables, placement, framework }: StepParts, shape: GroupedAttention) {
  const { headDim, query, keyValue } = widthsOf(placement, shape);
  const rotated = 2 * ACTIVATION_BYTES * headDim * (query + keyValue);
  const written = 2 * headDim * keyValue * (ACTIVATION_BYTES + 1);
  if (FUSIONS[framework].isCacheWriteFused) {
    return (tokens: number) => elementwiseUs(tables.system, (rotated + written) * tokens);
  }
  return (tokens: number) =>
    elementwiseUs(tables.system, rotated * tokens) + elementwiseUs(tables.system, written * tokens);
}

/**
 * Norms over the heads of all GPUs: the variances, an all-reduce of them, and the scaling
 * (`MiniMaxText01RMSNormTP.forward_qk` of vLLM).
 */
function normOfAllHeads({ tables, placement }: StepParts): Linear {
  const { model, tp } = placement;
  const { attention } = model;
  if (model.qkNorm !== 'across heads' || attention.kind === 'latent') return () => 0;
  const { headDim, query, keyValue } = widthsOf(placement, attention);
  const bytes = ACTIVATION_BYTES * headDim * (query + keyValue);
  const reduce = tp > 1 ? needed(tables.allReduce(), 'all-reduce') : undefined;
  return (tokens) =>
    elementwiseUs(tables.system, bytes * tokens) +
    elementwiseUs(tables.system, 2 * bytes * tokens) +
    (reduce?.timeUs(tp, VARIANCE_ELEMENTS * tokens) ?? 0);
}

function widthsOf({ model, tp }: StepParts['placement'], attention: GroupedAttention) {
  return {
    headDim: attention.headDim,
    query: model.heads / tp,
    keyValue: Math.max(1, Math.ceil(attention.kvHeads / tp)),
  };
}
