import {
  checkParallel,
  type EnginePlacement,
  expertGroupOf,
  expertLayers,
  expertParameters,
  isFp8,
  meanWeightBytes,
  routedParameters,
  sharedLayerParameters,
} from '@baton/hardware';
import { layerCostOf } from './roofline-attention';

/**
 * BLIS's basis functions for one engine in µs, from the data sheet's peaks, before any coefficient:
 * inference-sim/inference-sim `sim/latency/trained_physics_model.go`.
 */
export interface BlisBasis {
  /** Matrix products of one token: 2 FLOP per active parameter, output head left out. */
  readonly tokenComputeUs: number;
  /** Attention of one (query, context) pair of tokens. */
  readonly pairComputeUs: number;
  /** KV of one token, written or read. */
  readonly kvTokenUs: number;
  /** All weights of a GPU once, output head left out. */
  readonly weightUs: number;
  /** Ring all-reduces of one token at the rate of memory; the coefficient holds the difference. */
  readonly allReduceTokenUs: number;
  /** Exchange of one token with the other ranks, at the rate of memory. */
  readonly exchangeTokenUs: number;
  readonly layers: number;
}

const FLOPS_PER_PARAMETER = 2;
const ACTIVATION_BYTES = 2;

/** @throws HardwareError `bad-tensor-parallel`, `bad-expert-parallel` */
export function blisBasisOf(placement: EnginePlacement): BlisBasis {
  checkParallel(placement);
  const { model, gpu, tp, dp = 1 } = placement;
  const { layers, precision } = model;
  const weightBytes = meanWeightBytes(model);
  const active =
    (model.experts?.activeExperts ?? 0) * expertLayers(model) * expertParameters(model);
  const shared = sharedLayerParameters(model);
  const peak = gpu.flopsPerSecond * (isFp8(precision) ? (gpu.fp8Factor ?? 1) : 1);
  const flopsPerUs = peak / 1e6;
  const bytesPerUs = gpu.memoryBytesPerSecond / 1e6;
  const layer = layerCostOf(model, tp);
  const weights = (shared / tp + routedParameters(model) / (tp * dp)) * weightBytes;
  return {
    tokenComputeUs: (FLOPS_PER_PARAMETER * (shared + active)) / tp / flopsPerUs,
    pairComputeUs: (layers * layer.prefillFlopsPerPair) / flopsPerUs,
    kvTokenUs: (layers * layer.kvBytesPerToken) / bytesPerUs,
    weightUs: weights / bytesPerUs,
    allReduceTokenUs: allReduceBytes(placement) / bytesPerUs,
    exchangeTokenUs: exchangeBytes(placement) / bytesPerUs,
    layers,
  };
}

/** One after attention and one after the feed-forward, but none after experts that ranks share. */
function allReduceBytes({ model, tp, dp = 1 }: EnginePlacement): number {
  const reduces = 2 * model.layers - (dp > 1 ? expertLayers(model) : 0);
  return (reduces * model.hidden * ACTIVATION_BYTES * 2 * (tp - 1)) / tp;
}

/** Dispatch and combine: hidden states, k of each with expert parallelism and one without. */
function exchangeBytes(placement: EnginePlacement): number {
  const { model, dp = 1, expertParallel = false } = placement;
  if (dp === 1) return 0;
  const group = expertGroupOf(placement);
  const copies = expertParallel ? (model.experts?.activeExperts ?? 0) : 1;
  const perLayer = ((copies * (group - 1)) / group) * 2 * model.hidden * meanWeightBytes(model);
  return expertLayers(model) * perLayer;
}
