import type { EnginePlacement } from '../engine-placement';
import {
  attentionParameters,
  attentionWeightBytes,
  type ModelGeometry,
  routedParameters,
  routerParameters,
  sharedLayerParameters,
  vocabularyParameters,
  vocabularySides,
} from '../model/model-geometry';
import { linearFormat, WEIGHT_BYTES } from '../model/precision';
import { expertPadding } from './padded-experts';

/**
 * Bytes that vLLM loads onto one GPU ("Model loading took … GiB"). Tensor parallelism cuts
 * attention, feed-forward and both sides of the vocabulary; every GPU keeps the router, KV heads
 * that are fewer than GPUs, the down-projections of latent attention and the table of rotary
 * positions whole. Routed experts are spread over all `tp · dp` GPUs, those in MXFP4 padded. Norms
 * and biases are left out (below 0.1 %).
 */
export function weightBytesPerGpu(placement: EnginePlacement): number {
  const { model, tp, dp = 1 } = placement;
  const { precision } = model;
  const linearBytes = WEIGHT_BYTES[linearFormat(precision)];
  const router = routerParameters(model);
  const attention = model.layers * attentionParameters(model);
  const whole = copiedParameters(model, tp);
  const cut = sharedLayerParameters(model) - router - attention;
  const attentionShare = (attention - uncutParameters(model)) / tp + whole;
  const share = (routedParameters(model) / (tp * dp)) * expertPadding(placement);
  const experts = share * WEIGHT_BYTES[precision.experts];
  const vocabulary = (vocabularyParameters(model) * vocabularySides(model)) / tp;
  const plain = (vocabulary + router) * WEIGHT_BYTES.bf16;
  const linear = (cut / tp) * linearBytes + attentionShare * attentionWeightBytes(model);
  return linear + experts + plain + rotaryTableBytes(model);
}

/** Parameters that are not cut by the degree. */
function uncutParameters({ attention, layers, hidden }: ModelGeometry): number {
  if (attention.kind === 'grouped') return 0;
  return layers * hidden * (attention.queryRank + attention.kvRank + attention.ropeDim);
}

/** Parameters that are not cut, and the parts of KV heads beyond the share of a GPU. */
function copiedParameters(model: ModelGeometry, tp: number): number {
  const { attention, layers, hidden } = model;
  if (attention.kind === 'latent') return uncutParameters(model);
  const share = attention.kvHeads / tp;
  return 2 * layers * hidden * attention.headDim * (Math.max(1, share) - share);
}

/** Sine and cosine of every position, in 16 bits, once for all layers. */
function rotaryTableBytes({ attention, maxContext }: ModelGeometry): number {
  const dimensions = attention.kind === 'latent' ? attention.ropeDim : attention.headDim;
  return 2 * maxContext * dimensions;
}
