import type { EnginePlacement } from '@baton/hardware';
import type { OperatorTables } from '../operators/operator-tables';
import { FUSIONS } from './framework';
import type { Kernels } from './kernel-choice';
import type { MeasuredEnds } from './measured-ends';
import { linearLayersOf, type LinearLayers, type LinearShape } from './linear-layers';
import { atPowerLimit } from './power-limit';
import { Uncovered } from './uncovered';

/** The inputs of every part of a step. */
export interface StepParts extends Kernels {
  readonly placement: EnginePlacement;
  readonly tables: OperatorTables;
  /** Ends of the measured ranges of the operators in use. */
  readonly ends: MeasuredEnds;
  /** Matrix products take their time at the power limit of the GPU. */
  readonly isAtPowerLimit: boolean;
}

const FORMAT_NAMES = {
  bf16: 'BF16',
  fp8: 'FP8',
  fp8_static: 'static FP8',
  fp8_block: 'block-wise FP8',
  nvfp4: 'NVFP4',
  mxfp4: 'MXFP4',
  int4: 'INT4',
  int4_group32: 'INT4',
} as const;

/** A linear layer of fixed widths, in µs by rows. */
export type Linear = (rows: number) => number;

/**
 * The times of a linear layer.
 *
 * @param ends  of a layer whose rows are the tokens of a step
 * @throws Uncovered when no table has the format, or no measured shape is near
 */
export function linearOf(layers: LinearLayers, shape: LinearShape, ends?: MeasuredEnds): Linear {
  if (layers.timeUs(1, shape) === undefined) {
    throw new Uncovered(`no measured matrix product is near ${shape.n} x ${shape.k}`);
  }
  ends?.ofStep(layers.lastMeasured(shape));
  return (rows) => layers.timeUs(rows, shape)!;
}

/** @throws Uncovered when no table has the format */
export function layersOf(
  parts: StepParts,
  format: Parameters<typeof linearLayersOf>[1],
): LinearLayers {
  const layers = linearLayersOf(parts.tables, format);
  if (layers !== undefined) {
    return parts.isAtPowerLimit ? atPowerLimit(layers, parts, format) : layers;
  }
  throw new Uncovered(`no matrix products in ${FORMAT_NAMES[format]} were measured on this GPU`);
}

/** @throws Uncovered */
export function needed<T>(table: T | undefined, what: string): T {
  if (table !== undefined) return table;
  throw new Uncovered(`no ${what} was measured on this GPU`);
}

/**
 * Whether the all-reduce before a norm also norms and quantises the input of the next layer.
 * TensorRT-LLM's layers of dense Qwen3 norm apart (`Qwen3DecoderLayer`).
 */
export function isNormQuantising({ placement, framework }: StepParts): boolean {
  const { model, tp } = placement;
  const isApart = model.qkNorm !== undefined && model.experts === undefined;
  return FUSIONS[framework].isNormInAllReduce && tp > 1 && !isApart;
}
