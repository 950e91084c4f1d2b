import {
  type EnginePlacement,
  expertLayers,
  expertParameters,
  hasOutputHead,
  isFp8,
  meanWeightBytes,
  sharedLayerParameters,
  vocabularyParameters,
} from '@baton/hardware';
import type { BatchAggregates } from '../port/step-time-model';

/** Everything in a step except attention: matrix products against the bytes of their weights. */
export interface LinearCost {
  timeUs(batch: LinearBatch): number;
}

type LinearBatch = Pick<
  BatchAggregates,
  'prefillTokens' | 'prefillSeqs' | 'decodeSeqs' | 'draftTokens' | 'expertTokens'
>;

/** A multiplication and an addition per weight and token. */
const FLOPS_PER_PARAMETER = 2;

/**
 * `max(2 · active parameters · (prefill tokens / prefill rate + decode tokens / decode rate),
 * weights read / bandwidth)`, plus an overhead per layer. The output head works on each decode
 * token and one per prompt. Of the experts, those are read that any token of the step is routed to:
 * with uniform routing of T tokens `N · (1 − ((N − k) / N)^T)` of N are expected (BLIS uses the
 * same). Of data-parallel ranks each GPU reads and computes its share for the tokens of all,
 * assumed to be as many as this engine's by default, and experts to be balanced.
 */
export function linearCostOf({ model, gpu, tp, dp = 1 }: EnginePlacement): LinearCost {
  const { efficiency } = gpu;
  const { experts = 0, activeExperts = 0 } = model.experts ?? {};
  const expertsEverywhere = expertLayers(model) * expertParameters(model);
  const shared = sharedLayerParameters(model);
  const head = hasOutputHead(model) ? vocabularyParameters(model) : 0;
  const flopsPerToken = FLOPS_PER_PARAMETER * (shared + activeExperts * expertsEverywhere);

  const quantised = isFp8(model.precision) ? (gpu.fp8Factor ?? 1) : 1;
  const usPerFlop = 1e6 / (gpu.flopsPerSecond * quantised * tp);
  const prefillUs = (flopsPerToken * usPerFlop) / efficiency.prefillCompute;
  const decodeUs = (flopsPerToken * usPerFlop) / efficiency.decodeCompute;
  // A rank computes its share of what all of them have, at the rate of prefill.
  const expertUs =
    (FLOPS_PER_PARAMETER * activeExperts * expertsEverywhere * usPerFlop) /
    efficiency.prefillCompute;
  const headUs = (FLOPS_PER_PARAMETER * head * usPerFlop) / efficiency.decodeCompute;

  const usPerByte = 1e6 / (gpu.memoryBytesPerSecond * efficiency.memory * tp);
  const usPerParameter = meanWeightBytes(model) * usPerByte;
  const sharedReadUs = (shared + head) * usPerParameter;
  const overheadUs = model.layers * efficiency.layerOverheadUs;
  const expertReadUs = (experts * expertsEverywhere * usPerParameter) / dp;
  const missedByToken = experts > 0 ? ((experts - activeExperts) / experts) ** dp : 1;

  return {
    timeUs({ prefillTokens, prefillSeqs, decodeSeqs, draftTokens = 0, expertTokens }) {
      const decodeTokens = decodeSeqs + draftTokens;
      const tokens = prefillTokens + decodeTokens;
      const routed = expertTokens ?? tokens;
      const headTokens = prefillSeqs + decodeTokens;
      const ownUs = prefillTokens * prefillUs + decodeTokens * decodeUs + headTokens * headUs;
      const computeUs = ownUs - (tokens - routed) * expertUs;
      const readExperts = 1 - missedByToken ** routed;
      return overheadUs + Math.max(computeUs, sharedReadUs + expertReadUs * readExperts);
    },
  };
}
