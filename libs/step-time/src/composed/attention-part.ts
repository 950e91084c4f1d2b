import {
  attentionFormat,
  attentionOutputFormat,
  type GroupedAttention,
  type LatentAttention,
  type ModelGeometry,
  type WeightFormat,
} from '@baton/hardware';
import type { AttentionShape, AttentionTable } from '../operators/attention-tables';
import { layersOf, type Linear, linearOf, needed, type StepParts } from './step-parts';
import { Uncovered } from './uncovered';

/** Prompts of one step, alike. */
export interface PromptShape {
  readonly prompts: number;
  /** Tokens of each with those before it, cached or computed in earlier steps. */
  readonly length: number;
  /** Tokens before the new ones, cached or computed in earlier steps. */
  readonly cached: number;
}

/** Sequences of one step that generate a token each. */
export interface DecodeShape {
  readonly sequences: number;
  /** Mean context, the new token included. */
  readonly context: number;
}

/**
 * Attention of all layers of a step, µs; of latent attention the whole block, projections included.
 */
export interface AttentionPart {
  prefillUs(shape: PromptShape): number;
  decodeUs(shape: DecodeShape): number;
  isMeasuredPrefill(shape: PromptShape): boolean;
  isMeasuredDecode(shape: DecodeShape): boolean;
}

/** @throws Uncovered */
export function attentionPartOf(parts: StepParts): AttentionPart {
  const { attention } = parts.placement.model;
  return attention.kind === 'latent' ? latent(parts, attention) : grouped(parts, attention);
}

/** Contexts of a batch lie around their mean; the table is averaged over this spread. */
export const SPREAD = 0.1;
const SPREAD_POINTS = 5;

function grouped(parts: StepParts, attention: GroupedAttention): AttentionPart {
  const { tables, placement } = parts;
  const { model, tp } = placement;
  const { kvCache } = model.precision;
  const context = needed(tables.contextAttention(kvCache), `prefill attention (KV ${kvCache})`);
  const decode = needed(tables.generationAttention(kvCache), `decode attention (KV ${kvCache})`);
  const full = {
    headDim: attention.headDim,
    window: 0,
    heads: model.heads / tp,
    kvHeads: Math.max(1, Math.ceil(attention.kvHeads / tp)),
  };
  const layers = layersOfWindows(full, attention, model.layers);
  return {
    prefillUs: (shape) =>
      layers.reduce((sum, [count, own]) => sum + count * prefillUs(context, own, shape), 0),
    decodeUs: (shape) =>
      layers.reduce((sum, [count, own]) => sum + count * decodeUs(decode, own, shape), 0),
    isMeasuredPrefill: ({ length, prompts }) =>
      layers.every(([, own]) => context.covers(own, length, prompts)),
    isMeasuredDecode: ({ sequences, context: tokens }) =>
      layers.every(([, own]) => decode.covers(own, sequences, longestOf(tokens))),
  };
}

/** Layers that attend to everything, and layers that attend to a window. */
function layersOfWindows(
  full: AttentionShape,
  { slidingWindow }: GroupedAttention,
  layers: number,
): (readonly [count: number, shape: AttentionShape])[] {
  if (slidingWindow === undefined) return [[layers, full]];
  const bounded = { ...full, window: slidingWindow.tokens };
  return [
    [layers - slidingWindow.layers, full],
    [slidingWindow.layers, bounded],
  ];
}

/** Prompts with a cached part take the share of the pairs that is new. */
function prefillUs(table: AttentionTable, shape: AttentionShape, prompts: PromptShape): number {
  const us = table.timeUs(shape, prompts.length, prompts.prompts);
  return us * newShare(prompts);
}

function newShare({ length, cached }: PromptShape): number {
  return (length ** 2 - cached ** 2) / length ** 2;
}

/** Far out there are no bends between points, and the mean is that of the middle. */
function decodeUs(table: AttentionTable, shape: AttentionShape, batch: DecodeShape): number {
  const { sequences, context } = batch;
  if (!table.reaches(shape, sequences, shortestOf(context))) {
    return table.timeUs(shape, sequences, context);
  }
  return meanAround(context, (tokens) => table.timeUs(shape, sequences, tokens));
}

function shortestOf(context: number): number {
  return Math.floor((1 - SPREAD) * context);
}

/** Longest context of a batch around its mean. */
function longestOf(context: number): number {
  return Math.floor((1 + SPREAD) * context);
}

function meanAround(context: number, usAt: (tokens: number) => number): number {
  const low = shortestOf(context);
  const high = longestOf(context);
  let sum = 0;
  for (let i = 0; i < SPREAD_POINTS; i++) {
    const between = low + Math.floor(((high - low) * i) / (SPREAD_POINTS - 1));
    sum += usAt(Math.max(1, between));
  }
  return sum / SPREAD_POINTS;
}

function latent(parts: StepParts, attention: LatentAttention): AttentionPart {
  const { tables, placement } = parts;
  const { model, tp } = placement;
  if (attention.queryRank === 0) {
    throw new Uncovered('latent attention was measured with a down-projection of queries alone');
  }
  const weights = blockFormat(attentionFormat(model.precision));
  const formats = { weights, kv: model.precision.kvCache };
  const context = needed(tables.latentContext(formats), 'latent attention of this format');
  const decode = needed(tables.latentGeneration(formats), 'latent attention of this format');
  const heads = model.heads / tp;
  const isOwn = hasMeasuredWidths(model);
  const savedUs = savedBehind(parts, heads * attention.valueDim);
  const blockUs = ({ prompts, length }: PromptShape) =>
    context.timeUs(heads, length, prompts) - savedUs(prompts * length);
  return {
    prefillUs: (shape) => model.layers * blockUs(shape) * newShare(shape),
    decodeUs: ({ sequences, context: tokens }) =>
      model.layers * (decode.timeUs(heads, sequences, tokens + 1) - savedUs(sequences)),
    isMeasuredPrefill: ({ length, prompts }) => isOwn && context.covers(heads, length, prompts),
    isMeasuredDecode: ({ sequences, context: tokens }) =>
      isOwn && decode.covers(heads, sequences, tokens + 1),
  };
}

/** Attention of DeepSeek-V3: its tables hold whole blocks, projections included, by heads alone. */
function hasMeasuredWidths({ hidden, attention }: ModelGeometry): boolean {
  if (attention.kind !== 'latent') return false;
  const { queryRank, kvRank, nopeDim, ropeDim, valueDim } = attention;
  const widths = [hidden, queryRank, kvRank, nopeDim, ropeDim, valueDim];
  return widths.join() === '7168,1536,512,128,64,128';
}

/**
 * What one layer saves because the projection behind attention is in another format than the rest
 * of the block, as in the second version of NVIDIA's NVFP4 checkpoints of DeepSeek. May be negative
 * where quantising takes longer than it saves.
 */
function savedBehind(parts: StepParts, width: number): Linear {
  const { hidden, precision } = parts.placement.model;
  const format = attentionOutputFormat(precision);
  if (format === attentionFormat(precision)) return () => 0;
  const shape = { n: hidden, k: width };
  const inBlock = linearOf(layersOf(parts, blockFormat(attentionFormat(precision))), shape);
  const own = linearOf(layersOf(parts, format), shape);
  return (tokens) => inBlock(tokens) - own(tokens);
}

/** Blocks of latent attention were measured in three formats. */
function blockFormat(linear: WeightFormat): 'bf16' | 'fp8_block' | 'nvfp4' {
  if (linear === 'nvfp4') return 'nvfp4';
  return linear.startsWith('fp8') ? 'fp8_block' : 'bf16';
}
