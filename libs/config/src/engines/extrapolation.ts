import type { Stage } from '@baton/contract';
import {
  type BatchAggregates,
  describeOutside,
  type OutsideRange,
  RangeGuard,
  type StepTimeModel,
} from '@baton/step-time';
import { type BatonConfig } from '../config';
import { UsageError } from '../usage-error';
import type { EngineSetup } from './engine-factory';

const said = new Set<string>();

/**
 * The model with `step_time_extrapolation` applied. Steps outside of its range are counted, and
 * either reported on stderr, once per stage, limit and process, or refused. A model without a range
 * is returned unchanged.
 */
export function guarded(model: StepTimeModel, config: BatonConfig, stage: Stage): StepTimeModel {
  if (model.outsideRange === undefined) return model;
  return new RangeGuard(model, {
    refuse: config.stepTimeExtrapolation === 'refuse',
    report: (outside) => warnOnce(outside, stage),
  });
}

/** The setup for one engine of several, with its own count of steps outside of the range. */
export function withOwnGuard(setup: EngineSetup): EngineSetup {
  const { stepTime } = setup.options;
  if (!(stepTime instanceof RangeGuard)) return setup;
  const guard = stepTime.another();
  return { ...setup, guard, options: { ...setup.options, stepTime: guard } };
}

/** The largest batches to check: the longest prompt alone, or all batches of an engine. */
export interface LargestBatches {
  /** Longest prompt of this engine, in tokens. Unset: its model length. */
  readonly longestPrompt?: number;
  /** True: every batch that the engine can form. False: only the longest prompt alone. */
  readonly everyBatch: boolean;
}

/**
 * Checks in advance, under `step_time_extrapolation: refuse`, that the largest batches of an engine
 * lie within the range of its step-time model. Batches that depend on the run are refused by the
 * step that leaves the range.
 *
 * @throws UsageError, one sentence
 */
export function checkExtrapolation(
  { options }: Pick<EngineSetup, 'options'>,
  stage: Stage,
  largest: LargestBatches,
): void {
  const { stepTime } = options;
  if (!(stepTime instanceof RangeGuard) || !stepTime.isRefusing) return;
  const batches = [
    ...(stage === 'decode' ? [] : promptBatches(options, largest)),
    ...(stage === 'prefill' || !largest.everyBatch ? [] : [decodeBatch(options)]),
  ];
  const outside = batches.map((batch) => stepTime.outsideRange(batch)).find((each) => each);
  if (outside === undefined) return;
  throw new UsageError(
    `${stage} engines may leave the range of their step times: ${describeOutside(outside)}. ` +
      'Bound them by max_model_len, max_num_batched_tokens and max_num_seqs, measure more, ' +
      'or allow it with step_time_extrapolation: warn.',
  );
}

type Options = EngineSetup['options'];

const EMPTY: BatchAggregates = {
  prefillTokens: 0,
  prefillSeqs: 0,
  prefillQuadratic: 0,
  prefillContext: 0,
  decodeSeqs: 0,
  decodeContext: 0,
  kvUsage: 1,
};

/** The last chunk of the longest prompt, and a step whose token budget is full of prompt tokens. */
function promptBatches(options: Options, largest: LargestBatches): BatchAggregates[] {
  const { maxModelLen, maxNumBatchedTokens } = options;
  const tokens = Math.min(maxModelLen, largest.longestPrompt ?? maxModelLen);
  const chunk = Math.min(tokens, maxNumBatchedTokens);
  const before = tokens - chunk;
  const last = {
    ...EMPTY,
    prefillSeqs: 1,
    prefillTokens: chunk,
    prefillContext: before,
    prefillQuadratic: tokens ** 2 - before ** 2,
  };
  return largest.everyBatch ? [last, { ...last, prefillTokens: maxNumBatchedTokens }] : [last];
}

function decodeBatch({ maxNumSeqs, numBlocks, blockSize, maxModelLen }: Options): BatchAggregates {
  const context = Math.min(numBlocks * blockSize, maxNumSeqs * maxModelLen);
  return { ...EMPTY, decodeSeqs: maxNumSeqs, decodeContext: context };
}

function warnOnce(outside: OutsideRange, stage: Stage): void {
  const limit = `${stage} ${outside.what} ${outside.range.join()}`;
  if (said.has(limit)) return;
  said.add(limit);
  const sentence = describeOutside(outside);
  process.stderr.write(
    `baton: warning: ${stage} engines: ${sentence}; its answers there are extrapolations.\n`,
  );
}
