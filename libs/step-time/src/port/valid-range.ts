import type { BatchAggregates } from './step-time-model';

/** Lowest and highest value, both included. */
export type Range = readonly [low: number, high: number];

/** The quantity of a batch outside of a model's measured or fitted range. */
export interface OutsideRange {
  /** `tokens per step`, in words for a user. */
  readonly what: string;
  readonly value: number;
  readonly range: Range;
}

/**
 * The valid range of a fit. An axis without a range is not checked. Numbers of tokens are only
 * limited above: below the measurements the line is level or has an intercept, which is valid for a
 * chunk of a few tokens after a cached prefix.
 */
export interface ValidRange {
  /** Tokens of one step, prompt and decode together. */
  readonly stepTokens?: Range | undefined;
  /** Prompt tokens of one step; [0, 0]: no step with prompt tokens was measured. */
  readonly prefillTokens?: Range | undefined;
  /** Largest Σ ((p + n)² − p²) over the prompts of one step, tokens². */
  readonly prefillQuadraticMax?: number | undefined;
  /** Sequences that decode; [0, 0]: no decode step was measured. */
  readonly decodeSeqs?: Range | undefined;
  /** Largest Σ context of one step. */
  readonly decodeContextMax?: number | undefined;
  /** Largest mean context of the decoding sequences. */
  readonly meanContextMax?: number | undefined;
}

/**
 * The first axis that the batch leaves, or undefined; allocates only for a batch that is outside.
 */
export function outsideOf(valid: ValidRange, batch: BatchAggregates): OutsideRange | undefined {
  const { prefillTokens, decodeSeqs, draftTokens = 0 } = batch;
  const stepTokens = prefillTokens + decodeSeqs + draftTokens;
  if (isAbove(valid.stepTokens, stepTokens)) {
    return leaves('tokens per step', stepTokens, valid.stepTokens!);
  }
  return (
    (prefillTokens > 0 ? outsideOfPrefill(valid, batch) : undefined) ??
    (decodeSeqs > 0 ? outsideOfDecode(valid, batch) : undefined)
  );
}

/**
 * Largest Σ context within the range for so many decoding sequences; -1 when their number alone
 * lies outside.
 */
export function contextLimitOf(valid: ValidRange, decodeSeqs: number): number {
  const isOut = isAbove(valid.stepTokens, decodeSeqs) || isOutside(valid.decodeSeqs, decodeSeqs);
  if (isOut) return -1;
  const { decodeContextMax = Infinity, meanContextMax = Infinity } = valid;
  return Math.floor(Math.min(decodeContextMax, meanContextMax * decodeSeqs));
}

/** One sentence for a user. */
export function describeOutside({ what, value, range }: OutsideRange): string {
  const format = (number: number) => Number(number.toPrecision(6)).toLocaleString('en-US');
  if (range[1] === 0) return `the step-time model has no measurement of ${what}`;
  return (
    `${what}: ${format(value)} is outside ${format(range[0])} to ${format(range[1])}, ` +
    'the range for which the step-time model was measured or fitted'
  );
}

function outsideOfPrefill(valid: ValidRange, batch: BatchAggregates): OutsideRange | undefined {
  if (isAbove(valid.prefillTokens, batch.prefillTokens)) {
    return leaves('prompt tokens per step', batch.prefillTokens, valid.prefillTokens!);
  }
  const max = valid.prefillQuadraticMax;
  if (max === undefined || batch.prefillQuadratic <= max) return undefined;
  return leaves('attention of prompts in tokens²', batch.prefillQuadratic, [0, max]);
}

function outsideOfDecode(valid: ValidRange, batch: BatchAggregates): OutsideRange | undefined {
  const { decodeSeqs, decodeContext } = batch;
  if (isOutside(valid.decodeSeqs, decodeSeqs)) {
    return leaves('decoding sequences', decodeSeqs, valid.decodeSeqs!);
  }
  const { decodeContextMax: sum, meanContextMax: mean } = valid;
  if (sum !== undefined && decodeContext > sum) {
    return leaves('context tokens of a decode step', decodeContext, [0, sum]);
  }
  if (mean === undefined || decodeContext <= mean * decodeSeqs) return undefined;
  return leaves('context tokens per decoding sequence', decodeContext / decodeSeqs, [0, mean]);
}

/** No range: everything is inside. */
export function isOutside(range: Range | undefined, value: number): boolean {
  return range !== undefined && (value < range[0] || value > range[1]);
}

export function isAbove(range: Range | undefined, value: number): boolean {
  return range !== undefined && value > range[1];
}

function leaves(what: string, value: number, range: Range): OutsideRange {
  return { what, value, range };
}
