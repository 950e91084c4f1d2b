import { checkParallel, describePrecision, type EnginePlacement } from '@baton/hardware';
import { OperatorTables } from '../operators/operator-tables';
import { type OperatorTexts } from '../operators/operator-texts';
import { describePlacement } from '../models/roofline';
import { ComposedStepTime } from './composed-step-time';
import { type KernelChoice, kernelsOf } from './kernel-choice';
import { launchFloorUs } from './launch-floor';
import { StepComposer } from './step-composer';
import { tabulate, type TabulatedStep } from './tabulated-step';
import { Uncovered } from './uncovered';

export interface ComposedSpec extends KernelChoice {
  readonly kind: 'composed';
  /** Time added to each step. Default: the documented value for engines that schedule ahead. */
  readonly overheadMs?: number | undefined;
  /** Factor on decode attention in steps that also prefill; unset: 1. */
  readonly mixedDecodeFactor?: number | undefined;
  /** Tokens of the batches that run in CUDA graphs, rising. Unset: batches are not padded. */
  readonly cudaGraphSizes?: readonly number[] | undefined;
  /** The next batch is formed when the step before has ended. Unset: while it runs. */
  readonly isSynchronous?: boolean | undefined;
}

/** The source of measured operators, and the store of tabulated steps between runs. */
export interface OperatorSource {
  readonly texts: OperatorTexts;
  /** The stored tabulation of this key; undefined when there is none or it cannot be read. */
  cached(key: string): TabulatedStep | undefined;
  keep(key: string, step: TabulatedStep): void;
  /** Sum over the contents of the user's own tables; undefined: there are none. */
  readonly ownSum?: string;
  /** Names the user's own tables of a system; undefined: there are none. */
  ownOf?(system: string): string | undefined;
}

export const NO_OPERATORS: OperatorSource = {
  texts: { read: () => undefined },
  cached: () => undefined,
  keep: () => undefined,
};

/** Rises with every change of the composition or tabulation of steps. */
const EDITION = 13;

/**
 * vLLM 0.30 on one H100 takes 0.3 ms per step beyond its kernels (the closed loops of
 * data/measured); it schedules the next step while the GPU computes.
 */
const OVERHEAD_MS = 0.3;

/**
 * What a sequence adds to a step whose batch is formed only when the step before has ended: on two
 * A100, 32, 64, 128 and 256 sequences took 0.34, 0.78, 1.70 and 3.26 ms longer per step without
 * async scheduling (https://github.com/vllm-project/vllm/pull/23914, tokens per second of both).
 */
const SYNCHRONOUS_US_PER_SEQUENCE = 12.8;

/**
 * The composed model of a placement, or one clause with the reason why there is none.
 *
 * @throws HardwareError `bad-tensor-parallel`, `bad-expert-parallel`
 */
export function composedStepTime(
  spec: ComposedSpec,
  placement: EnginePlacement,
  source: OperatorSource,
): ComposedStepTime | string {
  checkParallel(placement);
  const step = stepOf(placement, spec, source);
  if (typeof step === 'string') return step;
  const overheadMs = spec.overheadMs ?? OVERHEAD_MS;
  const { gpu, model } = placement;
  const description =
    `composed from ${operatorsBehind(gpu, source)}, ${describePlacement(placement)}, ` +
    `${describePrecision(model.precision)}, overhead ${overheadMs} ms`;
  const { mixedDecodeFactor = 1, cudaGraphSizes = [], isSynchronous = false } = spec;
  const hostUsPerSequence = isSynchronous ? SYNCHRONOUS_US_PER_SEQUENCE : 0;
  const promptFloorUs = launchFloorUs(placement, kernelsOf(spec).framework);
  const own = { description, overheadMs, hostUsPerSequence, promptFloorUs };
  return new ComposedStepTime(step, { ...own, mixedDecodeFactor, cudaGraphSizes });
}

/** `measured operators of h100_sxm with own tables of ./mine (gemm.bf16)`. */
export function operatorsBehind(
  { operators = '' }: EnginePlacement['gpu'],
  source: OperatorSource,
): string {
  const own = source.ownOf?.(operators);
  const shipped = `measured operators of ${operators}`;
  return own === undefined ? shipped : `${shipped} with ${own}`;
}

function stepOf(
  placement: EnginePlacement,
  choice: KernelChoice,
  source: OperatorSource,
): TabulatedStep | string {
  const { model, gpu } = placement;
  if (gpu.operators === undefined) return `no operators were measured on ${gpu.name}`;
  const key = keyOf(placement, choice);
  const cached = source.cached(key);
  if (cached !== undefined) return cached;
  const composer = buildComposer(placement, choice, source);
  if (typeof composer === 'string') return composer;
  const step = tabulate(composer, { contextTokens: model.maxContext });
  source.keep(key, step);
  return step;
}

/** The composer of a placement, or one clause with the reason why its steps cannot be composed. */
export function buildComposer(
  placement: EnginePlacement,
  choice: KernelChoice,
  source: OperatorSource,
): StepComposer | string {
  const { operators, name } = placement.gpu;
  if (operators === undefined) return `no operators were measured on ${name}`;
  const tables = OperatorTables.of(operators, source.texts);
  if (tables === undefined) return `the tables of ${operators} are not there`;
  try {
    return new StepComposer(placement, tables, choice);
  } catch (error) {
    if (error instanceof Uncovered) return error.message;
    throw error;
  }
}

/** Everything that a tabulated step depends on, without the names of the model. */
function keyOf(placement: EnginePlacement, choice: KernelChoice): string {
  const { model, gpu, tp, dp = 1, expertParallel = false } = placement;
  const { name: _name, aliases: _aliases, ...shape } = model;
  return JSON.stringify([
    ...[EDITION, ...Object.values(kernelsOf(choice))],
    ...[gpu.operators, tp, dp, expertParallel, shape],
  ]);
}
