import {
  attentionFormat,
  attentionOutputFormat,
  type EnginePlacement,
  expertLayers,
  hasEmbedding,
  hasOutputHead,
} from '@baton/hardware';
import { elementwiseUs } from '../operators/system-facts';
import { type OperatorTables } from '../operators/operator-tables';
import {
  type AttentionPart,
  attentionPartOf,
  type DecodeShape,
  type PromptShape,
} from './attention-part';
import { type FeedForwardPart, feedForwardPartOf } from './feed-forward-part';
import { aroundAttention } from './around-attention';
import { expertChoice } from './expert-choice';
import { type KernelChoice, kernelsOf } from './kernel-choice';
import { MeasuredEnds, type StepKind, type TokenEnds } from './measured-ends';
import { normsApart, tokensNormedInAllReduce } from './norm-in-all-reduce';
import { paddingOfExperts } from './padded-experts';
import { hasPowerLimit } from './power-limit';
import { samplerOf } from './sampler-part';
import type { StepOperator } from './step-operator';
import {
  isNormQuantising,
  layersOf,
  type Linear,
  linearOf,
  needed,
  type StepParts,
} from './step-parts';

const ACTIVATION_BYTES = 2;
/** Bytes per token and hidden element of adding the residual and norming. */
const NORM_BYTES = 8;

/**
 * Puts a step of one engine together from measured operators, each with its count. Pure; times in
 * µs. Rules and what is left out: data/operators/COMPOSITION.md, docs/step-time.md.
 */
export class StepComposer {
  readonly attention: AttentionPart;
  private readonly feedForward: FeedForwardPart;
  private readonly projections: readonly StepOperatorLaw[];
  private readonly head: Linear;
  private readonly reduceUs: Linear;

  private readonly aroundUs: Linear;
  private readonly choiceUs: Linear;
  private readonly samplerUs: Linear;
  /** Up to this many tokens, norms are not separate kernels, except `normsApart`. */
  private readonly fusedTokens: number;
  private readonly normsApart: number;
  private readonly paddingUs: Linear;
  private readonly ends = new MeasuredEnds();

  /**
   * @param kernels choice of framework, fusions and expert kernels; unset: vLLM's defaults
   * @param isAtPowerLimit whether the GPU has long been at its power limit
   * @throws Uncovered when the tables lack operators of the deployment
   */
  constructor(
    private readonly placement: EnginePlacement,
    private readonly tables: OperatorTables,
    private readonly kernels: KernelChoice = {},
    private readonly isAtPowerLimit = false,
  ) {
    const given = { placement, tables, ends: this.ends, isAtPowerLimit };
    const parts: StepParts = { ...given, ...kernelsOf(kernels) };
    this.fusedTokens = tokensNormedInAllReduce(parts);
    this.normsApart = normsApart(parts);
    this.paddingUs = paddingOfExperts(parts);
    const { model, tp } = placement;
    this.attention = attentionPartOf(parts);
    this.feedForward = feedForwardPartOf(parts);
    this.projections = projectionsOf(parts);
    this.aroundUs = aroundAttention(parts);
    this.choiceUs = expertChoice(parts);
    const head = linearOf(layersOf(parts, 'bf16'), {
      n: Math.ceil(model.vocabulary / tp),
      k: model.hidden,
    });
    this.samplerUs = hasOutputHead(model) ? samplerOf(parts) : () => 0;
    this.head = hasOutputHead(model) ? head : () => 0;
    const reduce = tp > 1 ? needed(tables.allReduce(), 'all-reduce') : undefined;
    this.reduceUs = (tokens) => reduce?.timeUs(tp, tokens * model.hidden) ?? 0;
  }

  /** The same steps on a GPU that has long been at its power limit; undefined: not measured. */
  get atPowerLimit(): StepComposer | undefined {
    const { placement, tables, kernels } = this;
    if (this.isAtPowerLimit || !hasPowerLimit(placement.gpu.operators)) return undefined;
    return new StepComposer(placement, tables, kernels, true);
  }

  /** Tokens at which matrix products were measured: between them times are straight lines. */
  get measuredTokens(): number[] {
    return this.tables.gemm('bf16')!.positions;
  }

  /** Ends of the measured ranges of `linear`, at most at this many tokens of each rank. */
  measuredEnds(most: number): Readonly<Record<StepKind, TokenEnds>> {
    return this.ends.within(most, this.ranks);
  }

  /** Data-parallel ranks whose tokens the experts get. */
  get ranks(): number {
    return this.placement.dp ?? 1;
  }

  /** Everything but attention and the output head, by tokens of the step. */
  linear(tokens: number, isDecodeOnly: boolean): StepOperator[] {
    const { model, tp } = this.placement;
    const { system } = this.tables;
    const embedding = ACTIVATION_BYTES * tokens * model.hidden;
    const isFused = tokens <= this.fusedTokens;
    const norms = isFused ? this.normsApart : 2 * model.layers;
    return [
      ...(hasEmbedding(model)
        ? [{ name: 'embedding' as const, us: elementwiseUs(system, embedding) }]
        : []),
      { name: 'norms', us: norms * elementwiseUs(system, NORM_BYTES * tokens * model.hidden) },
      ...this.projections.map(({ name, us }) => ({ name, us: model.layers * us(tokens) })),
      ...this.feedForward.operators(tokens, isDecodeOnly),
      ...(isFused ? [{ name: 'padding' as const, us: this.paddingUs(tokens) }] : []),
      ...(tp > 1 ? this.reductions(tokens) : []),
    ];
  }

  /** Whether `linear` of steps that only decode is that of others. */
  get isAlikeWithPrompts(): boolean {
    return this.feedForward.isAlikeWithPrompts;
  }

  /**
   * The part of `linear` that depends on the tokens of all data-parallel ranks, in steps with
   * prompts, µs by tokens of each; undefined when the ranks share nothing.
   */
  get ofAllRanks(): Linear | undefined {
    return this.feedForward.ofAllRanks;
  }

  /** Between projections and attention, by tokens of the step; AIConfigurator counts a constant. */
  around(tokens: number): StepOperator {
    return { name: 'around attention', us: this.placement.model.layers * this.aroundUs(tokens) };
  }

  /** Choosing each token's experts by their scores; AIConfigurator leaves this operator out. */
  choice(tokens: number): StepOperator {
    return { name: 'choice of experts', us: this.choiceUs(tokens) };
  }

  /** Sampling tokens from logits; AIConfigurator leaves this operator out. */
  sampler(rows: number): StepOperator {
    return { name: 'sampler', us: this.samplerUs(rows) };
  }

  /** The output head works on the last token of each sequence. */
  outputHead(rows: number): StepOperator {
    return { name: 'output head', us: this.head(rows) };
  }

  prefill(shape: PromptShape): StepOperator {
    const isLatent = this.placement.model.attention.kind === 'latent';
    const name = isLatent ? 'latent attention' : 'prefill attention';
    return { name, us: this.attention.prefillUs(shape) };
  }

  decode(shape: DecodeShape): StepOperator {
    const isLatent = this.placement.model.attention.kind === 'latent';
    const name = isLatent ? 'latent attention' : 'decode attention';
    return { name, us: this.attention.decodeUs(shape) };
  }

  /**
   * After attention and after the feed-forward; in layers of experts dispatch and combine are it.
   */
  private reductions(tokens: number): StepOperator[] {
    const { model } = this.placement;
    const dense = model.layers - expertLayers(model);
    const us = this.reduceUs(tokens);
    return [
      ...(hasEmbedding(model) ? [{ name: 'embedding all-reduce' as const, us }] : []),
      { name: 'all-reduce', us: 2 * dense * us },
    ];
  }
}

interface StepOperatorLaw {
  readonly name: StepOperator['name'];
  readonly us: Linear;
}

/** Before and after attention; blocks of latent attention have them inside. */
function projectionsOf(parts: StepParts): StepOperatorLaw[] {
  const { model, tp } = parts.placement;
  const { attention, hidden, heads } = model;
  if (attention.kind === 'latent') return [];
  const { headDim } = attention;
  const kvHeads = Math.max(1, Math.ceil(attention.kvHeads / tp));
  const width = (heads / tp) * headDim;
  const into = layersOf(parts, attentionFormat(model.precision));
  const qkv = {
    n: width + 2 * kvHeads * headDim,
    k: hidden,
    mayArriveQuantised: isNormQuantising(parts),
  };
  const outputLayers = layersOf(parts, attentionOutputFormat(model.precision));
  return [
    {
      name: 'qkv',
      us: linearOf(into, qkv, parts.ends),
    },
    {
      name: 'output projection',
      us: linearOf(outputLayers, { n: hidden, k: width, mayArriveQuantised: true }, parts.ends),
    },
  ];
}
