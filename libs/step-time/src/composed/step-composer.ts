import { type EnginePlacement, expertLayers, linearFormat } from '@baton/hardware';
import type { OperatorTables } from '../operators/operator-tables';
import { elementwiseUs } from '../operators/system-facts';
import {
  type AttentionPart,
  attentionPartOf,
  type DecodeShape,
  type PromptShape,
} from './attention-part';
import { type FeedForwardPart, feedForwardPartOf } from './feed-forward-part';
import type { StepOperator } from './step-operator';
import { layersOf, type Linear, linearOf, needed, type StepParts } from './step-parts';

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

  /** @throws Uncovered when the tables have not what the deployment needs */
  constructor(
    private readonly placement: EnginePlacement,
    private readonly tables: OperatorTables,
  ) {
    const parts: StepParts = { placement, tables };
    const { model, tp } = placement;
    this.attention = attentionPartOf(parts);
    this.feedForward = feedForwardPartOf(parts);
    this.projections = projectionsOf(parts);
    this.head = linearOf(layersOf(parts, 'bf16'), {
      n: Math.ceil(model.vocabulary / tp),
      k: model.hidden,
    });
    const reduce = tp > 1 ? needed(tables.allReduce(), 'all-reduce') : undefined;
    this.reduceUs = (tokens) => reduce?.us(tp, tokens * model.hidden) ?? 0;
  }

  /** Tokens at which matrix products were measured: between them times are straight lines. */
  get measuredTokens(): number[] {
    return this.tables.gemm('bf16')!.positions;
  }

  /** Everything but attention and the output head, by tokens of the step. */
  linear(tokens: number, isDecodeOnly: boolean): StepOperator[] {
    const { model, tp } = this.placement;
    const { system } = this.tables;
    const embedding = ACTIVATION_BYTES * tokens * model.hidden;
    const norms = NORM_BYTES * tokens * model.hidden;
    return [
      { name: 'embedding', us: elementwiseUs(system, embedding) },
      { name: 'norms', us: 2 * model.layers * elementwiseUs(system, norms) },
      ...this.projections.map(({ name, us }) => ({ name, us: model.layers * us(tokens) })),
      ...this.feedForward.operators(tokens, isDecodeOnly),
      ...(tp > 1 ? this.reductions(tokens) : []),
    ];
  }

  /** The output head works on the last token of each sequence. */
  outputHead(rows: number): StepOperator {
    return { name: 'output head', us: this.head(rows) };
  }

  prefill(shape: PromptShape): StepOperator {
    const isLatent = this.placement.model.attention.kind === 'latent';
    const name = isLatent ? 'latent attention' : 'prefill attention';
    const { attention } = this;
    return { name, us: attention.prefillFixedUs + attention.prefillUs(shape) };
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
      { name: 'embedding all-reduce', us },
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
  const layers = layersOf(parts, linearFormat(model.precision));
  return [
    { name: 'qkv', us: linearOf(layers, { n: width + 2 * kvHeads * headDim, k: hidden }) },
    {
      name: 'output projection',
      us: linearOf(layers, { n: hidden, k: width, mayArriveQuantised: true }),
    },
  ];
}
