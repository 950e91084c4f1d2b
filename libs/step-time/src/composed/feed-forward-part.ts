import {
  expertGroupOf,
  expertLayers,
  linearFormat,
  type MixtureOfExperts,
  type WeightFormat,
} from '@baton/hardware';
import { elementwiseUs } from '../operators/system-facts';
import { type ExpertShape } from '../operators/expert-table';
import { type OperatorFormat } from '../operators/number-format';
import { float32Router } from './float32-router';
import type { Mxfp4Activations } from './kernel-choice';
import type { StepKind } from './measured-ends';
import { routedExpertsOf } from './routed-experts';
import type { StepOperator } from './step-operator';
import {
  isNormQuantising,
  layersOf,
  type Linear,
  linearOf,
  needed,
  type StepParts,
} from './step-parts';
import { Uncovered } from './uncovered';

/** The feed-forward of all layers, by tokens of the step on this rank. */
export interface FeedForwardPart {
  operators(tokens: number, isDecodeOnly: boolean): StepOperator[];
  /** Steps that only decode take what others do. */
  readonly isAlikeWithPrompts: boolean;
  /**
   * The part of a step with prompts that depends on the tokens of all data-parallel ranks, µs by
   * tokens of each when they have equally many. Unset when no part depends on them.
   */
  readonly ofAllRanks?: Linear | undefined;
}

const ACTIVATION_BYTES = 2;

/** @throws Uncovered */
export function feedForwardPartOf(parts: StepParts): FeedForwardPart {
  const { model } = parts.placement;
  const routed = expertLayers(model);
  const dense = model.layers - routed;
  const all = [
    ...(dense > 0 ? [denseLayers(parts, dense, model.intermediate)] : []),
    ...(model.experts ? [expertLayersPart(parts, model.experts, routed)] : []),
  ];
  return {
    operators: (tokens, isDecodeOnly) =>
      all.flatMap((part) => part.operators(tokens, isDecodeOnly)),
    isAlikeWithPrompts: all.every((part) => part.isAlikeWithPrompts),
    ofAllRanks: all.at(-1)?.ofAllRanks,
  };
}

function denseLayers(parts: StepParts, layers: number, intermediate: number): FeedForwardPart {
  const { up, activationUs, down } = gated(parts, intermediate);
  return {
    isAlikeWithPrompts: true,
    operators: (tokens) => [
      { name: 'gate and up', us: layers * up(tokens) },
      { name: 'activation', us: layers * activationUs(tokens) },
      { name: 'down', us: layers * down(tokens) },
    ],
  };
}

interface Gated {
  readonly up: Linear;
  readonly activationUs: Linear;
  readonly down: Linear;
}

/** One feed-forward of that width, cut over the tensor-parallel GPUs. */
function gated(parts: StepParts, intermediate: number): Gated {
  const { model, tp } = parts.placement;
  const { hidden, feedForwardMatrices } = model;
  const width = intermediate / tp;
  const inputs = feedForwardMatrices - 1;
  const layers = layersOf(parts, linearFormat(model.precision));
  const up = {
    n: inputs * width,
    k: hidden,
    mayArriveQuantised: isNormQuantising(parts),
  };
  const bytesPerToken = ACTIVATION_BYTES * (inputs + 1) * width;
  return {
    up: linearOf(layers, up, parts.ends),
    activationUs: (tokens) => elementwiseUs(parts.tables.system, bytesPerToken * tokens),
    down: linearOf(layers, { n: hidden, k: width, mayArriveQuantised: true }, parts.ends),
  };
}

/** Times of the parts of a mixture's layer, µs by tokens of this rank. */
interface ExpertTimes {
  readonly router: Linear;
  readonly experts: Linear;
  readonly dispatch: Linear;
  readonly combine: Linear;
  readonly shared: Linear | undefined;
  /** Tokens go to the ranks of their experts, by other kernels in decode. */
  readonly isRouted: boolean;
  /** The part of these times that depends on the tokens of all ranks. */
  readonly ofAllRanks: Linear;
}

function expertLayersPart(
  parts: StepParts,
  experts: MixtureOfExperts,
  layers: number,
): FeedForwardPart {
  const decode = expertTimes(parts, experts, true);
  const mixed = expertTimes(parts, experts, false);
  const { dp = 1 } = parts.placement;
  return {
    isAlikeWithPrompts: decode.shared === undefined && !decode.isRouted,
    ofAllRanks: dp > 1 ? (tokens) => layers * mixed.ofAllRanks(tokens) : undefined,
    operators(tokens, isDecodeOnly) {
      const times = isDecodeOnly ? decode : mixed;
      const routed = [
        { name: 'router', us: layers * times.router(tokens) },
        { name: 'dispatch', us: layers * times.dispatch(tokens) },
        { name: 'experts', us: layers * times.experts(tokens) },
        { name: 'combine', us: layers * times.combine(tokens) },
      ] as const;
      if (times.shared === undefined) return [...routed];
      const sharedUs = layers * times.shared(tokens);
      if (!isDecodeOnly) return [{ name: 'shared experts', us: sharedUs }, ...routed];
      const routedUs = routed.reduce((sum, { us }) => sum + us, 0);
      return [{ name: 'overlapped experts', us: Math.max(sharedUs, routedUs) }];
    },
  };
}

function expertTimes(
  parts: StepParts,
  experts: MixtureOfExperts,
  isDecodeOnly: boolean,
): ExpertTimes {
  const kind = isDecodeOnly ? 'decode' : 'mixed';
  const routed = routedExpertsOf(parts, expertShape(parts, experts), isDecodeOnly);
  const { sharedExperts, expertIntermediate } = experts;
  const shared = sharedExperts > 0 ? gated(parts, sharedExperts * expertIntermediate) : undefined;
  return {
    router: routerOf(parts, experts),
    // Behind an all-to-all, each rank sends no more than its own tokens.
    ...(routed ? { ...routed, ofAllRanks: routed.experts } : gathered(parts, experts, kind)),
    shared: shared && ((tokens) => gatedUs(shared, tokens)),
    isRouted: routed !== undefined,
  };
}

function routerOf(parts: StepParts, { experts, isRouterFloat32 }: MixtureOfExperts): Linear {
  if (isRouterFloat32 === true) return float32Router(parts);
  const shape = { n: experts, k: parts.placement.model.hidden };
  return linearOf(layersOf(parts, 'bf16'), shape, parts.ends);
}

function gatedUs({ up, activationUs, down }: Gated, tokens: number): number {
  return up(tokens) + activationUs(tokens) + down(tokens);
}

type Gathered = Pick<ExpertTimes, 'experts' | 'dispatch' | 'combine' | 'ofAllRanks'>;

/** Experts whose input is gathered from all ranks. */
function gathered(parts: StepParts, experts: MixtureOfExperts, kind: StepKind): Gathered {
  const us = gatheredExperts(parts, experts, kind);
  const { gatherUs, scatterUs, reduceUs } = exchangeOf(parts);
  return {
    experts: us,
    dispatch: (tokens) => reduceUs(tokens) + gatherUs(tokens),
    combine: (tokens) => reduceUs(tokens) + scatterUs(tokens),
    ofAllRanks: (tokens) => us(tokens) + gatherUs(tokens) + scatterUs(tokens),
  };
}

/** Experts that get the tokens of all ranks. */
function gatheredExperts(parts: StepParts, experts: MixtureOfExperts, kind: StepKind): Linear {
  const { placement, tables } = parts;
  const { model, dp = 1 } = placement;
  const format = expertFormat(model.precision.experts, parts.mxfp4Activations);
  const table = needed(tables.experts(format), `experts in ${format}`);
  const shape = expertShape(parts, experts);
  if (table.timeUs(shape, 1) === undefined) {
    throw new Uncovered(
      `no experts near ${experts.experts} x ${model.hidden} x ${shape.intermediate} over ` +
        `${expertGroupOf(placement)} GPUs were measured`,
    );
  }
  parts.ends.ofAllRanks(table.lastMeasured(shape), kind);
  return (tokens) => table.timeUs(shape, tokens * dp)!;
}

function expertShape({ placement }: StepParts, experts: MixtureOfExperts): ExpertShape {
  const { model } = placement;
  const group = expertGroupOf(placement);
  const isWhole = placement.expertParallel === true;
  return {
    // DeepSeek's and Kimi's routers are trained to spread tokens more evenly.
    distribution: model.attention.kind === 'latent' ? 'power_law_1.01' : 'power_law_1.2',
    topK: experts.activeExperts,
    experts: experts.experts,
    hidden: model.hidden,
    intermediate: experts.expertIntermediate,
    tensorParallel: isWhole ? 1 : group,
    expertParallel: isWhole ? group : 1,
  };
}

function expertFormat(format: WeightFormat, activations: Mxfp4Activations): OperatorFormat {
  if (format === 'mxfp4' && activations === 'mxfp8') return 'mxfp4_mxfp8';
  if (format === 'fp8_static') return 'fp8';
  return format === 'int4' || format === 'int4_group32' ? 'int4_wo' : format;
}

/**
 * Before and after the experts: an all-reduce for each where attention is tensor-parallel (the
 * first stands for the attention's own), a gather and a scatter of all ranks' tokens where ranks
 * are data-parallel.
 */
function exchangeOf(parts: StepParts): Record<'reduceUs' | 'gatherUs' | 'scatterUs', Linear> {
  const { placement, tables } = parts;
  const { tp, dp = 1, model } = placement;
  const group = expertGroupOf(placement);
  const none = () => 0;
  if (group === 1) return { reduceUs: none, gatherUs: none, scatterUs: none };
  const reduce = tp > 1 ? needed(tables.allReduce(), 'all-reduce') : undefined;
  const gather = dp > 1 ? needed(tables.nccl('all_gather'), 'all-gather') : undefined;
  const scatter = dp > 1 ? needed(tables.nccl('reduce_scatter'), 'reduce-scatter') : undefined;
  const all = (tokens: number) => tokens * dp * model.hidden;
  return {
    reduceUs: (tokens) => reduce?.timeUs(group, tokens * model.hidden) ?? 0,
    gatherUs: (tokens) => gather?.timeUs(group, all(tokens)) ?? 0,
    scatterUs: (tokens) => scatter?.timeUs(group, all(tokens)) ?? 0,
  };
}
