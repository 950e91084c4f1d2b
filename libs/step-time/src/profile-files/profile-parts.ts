import type { ValidRange } from '../port/valid-range';
import type { FitError, StepTimeProfile } from '../profiles/step-time-profile';
import { numberOf, rangeOf, type Section, sectionOf, withoutUnset } from './profile-values';

/**
 * What a profile says besides the model: free text and figures for people, and the front end of
 * what was measured.
 */
export const NOTES = ['kind', 'formula', 'unit', 'source', 'fit', 'provenance', 'front_end'];

type Errors = Pick<StepTimeProfile, 'decodeErrorPercent' | 'prefillErrorPercent'>;

export function validToFile(valid: ValidRange): Section {
  return withoutUnset({
    step_tokens: valid.stepTokens,
    prefill_tokens: valid.prefillTokens,
    prefill_quadratic_max: valid.prefillQuadraticMax,
    decode_seqs: valid.decodeSeqs,
    decode_context_max: valid.decodeContextMax,
    mean_context_max: valid.meanContextMax,
  });
}

export function validOf(from: Section): ValidRange {
  return {
    stepTokens: rangeOf(from, 'step_tokens'),
    prefillTokens: rangeOf(from, 'prefill_tokens'),
    prefillQuadraticMax: numberOf(from, 'prefill_quadratic_max'),
    decodeSeqs: rangeOf(from, 'decode_seqs'),
    decodeContextMax: numberOf(from, 'decode_context_max'),
    meanContextMax: numberOf(from, 'mean_context_max'),
  };
}

export function errorsToFile({ decodeErrorPercent, prefillErrorPercent }: Errors): Section {
  return withoutUnset({ decode: decodeErrorPercent, prefill: prefillErrorPercent });
}

export function errorsOf(from: Section): Errors {
  const error = sectionOf(from, 'error_percent') ?? {};
  return {
    decodeErrorPercent: errorOf(error, 'decode'),
    prefillErrorPercent: errorOf(error, 'prefill'),
  };
}

function errorOf(from: Section, key: string): FitError | undefined {
  const error = sectionOf(from, key);
  if (error === undefined) return undefined;
  return { mean: numberOf(error, 'mean') ?? 0, max: numberOf(error, 'max') ?? 0 };
}
