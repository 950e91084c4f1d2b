import type { WeightFormat } from '@baton/hardware';
import type { AllToAllPhase } from '../operators/all-to-all-table';
import type { ExpertShape } from '../operators/expert-table';
import { FUSIONS } from './framework';
import type { Linear, StepParts } from './step-parts';

/** Experts behind an all-to-all, one layer, µs by tokens of this rank. */
export interface RoutedExperts {
  readonly experts: Linear;
  readonly dispatch: Linear;
  readonly combine: Linear;
}

/**
 * Experts over several nodes whose GPUs reach each other over NVLink: tokens go only to the ranks
 * of their experts. Undefined in these cases:
 *
 * - the framework gathers the tokens of all ranks instead, or the ranks are within a node
 * - there are no more ranks than a token has experts; TensorRT-LLM gathers then, because a token
 *   goes to nearly all of them anyway
 * - no such exchange was measured
 */
export function routedExpertsOf(
  { placement, tables, framework, ends }: StepParts,
  shape: ExpertShape,
  isDecodeOnly: boolean,
): RoutedExperts | undefined {
  const { tp, dp = 1, model } = placement;
  const { topK, hidden, expertParallel: ranks } = shape;
  const isWide = ranks > Math.max(topK, tables.system.gpusPerNode);
  if (!FUSIONS[framework].isRoutingTokens || tp > 1 || dp < ranks || !isWide) return undefined;
  const formats = FORMATS[model.precision.experts];
  const experts = formats && tables.routedExperts(formats.experts, phaseOf(isDecodeOnly));
  const exchange = formats && tables.allToAll(formats.tokens);
  const routed = { topK, hidden, ranks };
  if (experts?.timeUs(shape, 1) === undefined || exchange === undefined) return undefined;
  if (exchange.timeUs('dispatch', routed, 1) === undefined) return undefined;
  const us = (phase: AllToAllPhase, tokens: number) => exchange.timeUs(phase, routed, tokens);
  const kind = isDecodeOnly ? 'decode' : 'mixed';
  ends.ofAllRanks(experts.lastMeasured(shape), kind);
  for (const phase of PHASES) ends.ofStep(exchange.lastMeasured(phase, routed), [kind]);
  // TensorRT-LLM's `use_low_precision_moe_combine`, which its recipes set in decode.
  const isLow = framework === 'trtllm' && isDecodeOnly;
  const low = (tokens: number) => (isLow ? us('combine_low_precision', tokens) : undefined);
  return {
    experts: (tokens) => experts.timeUs(shape, tokens * dp)!,
    dispatch: (tokens) => us('prepare', tokens)! + us('dispatch', tokens)!,
    combine: (tokens) => low(tokens) ?? us('combine', tokens)!,
  };
}

const PHASES = ['prepare', 'dispatch', 'combine'] as const;

/**
 * The format in which experts after an all-to-all were measured, and the format of the tokens sent.
 */
const FORMATS: Partial<
  Record<WeightFormat, { experts: 'fp8_block' | 'nvfp4'; tokens: 'fp8' | 'nvfp4' }>
> = {
  fp8_block: { experts: 'fp8_block', tokens: 'fp8' },
  nvfp4: { experts: 'nvfp4', tokens: 'nvfp4' },
};

function phaseOf(isDecodeOnly: boolean): 'context' | 'generation' {
  return isDecodeOnly ? 'generation' : 'context';
}
