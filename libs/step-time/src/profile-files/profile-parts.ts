import { type FitError, type StepTimeProfile } from '../profiles/step-time-profile';
import { type HeldOutByPhase, type HeldOutFactors } from '../port/held-out-factors';
import { NOISE_PROBABILITIES, type StepNoise } from '../port/step-noise';
import { type ValidRange } from '../port/valid-range';
import {
  badProfile,
  listOf,
  numberOf,
  rangeOf,
  type Section,
  sectionOf,
  withoutUnset,
} from './profile-values';

/**
 * Keys of a profile besides the model: free text and figures for readers, and the front end of the
 * measured server.
 */
export const NOTES = ['kind', 'formula', 'unit', 'source', 'fit', 'provenance', 'front_end'];

/** Keys of the errors and the scatter of measured steps. */
export const MEASURED = ['error_percent', 'held_out_factors', 'noise'];

type Residuals = Pick<StepTimeProfile, 'heldOut' | 'noise'>;

/** Phases without points, and keys without phases, are left out. */
export function residualsToFile({ heldOut = {}, noise = {} }: Residuals): Section {
  const known = (phases: object): Section | undefined => {
    const own = withoutUnset({ ...phases });
    return Object.keys(own).length > 0 ? own : undefined;
  };
  return withoutUnset({ held_out_factors: known(heldOut), noise: known(noise) });
}

export function residualsOf(from: Section): Residuals {
  return { heldOut: heldOutOf(from), noise: noiseOf(from) };
}

function heldOutOf(from: Section): HeldOutByPhase | undefined {
  const section = sectionOf(from, 'held_out_factors');
  return (
    section && { prefill: factorsOf(section, 'prefill'), decode: factorsOf(section, 'decode') }
  );
}

function factorsOf(from: Section, key: string): HeldOutFactors | undefined {
  const factors = sectionOf(from, key);
  if (factors === undefined) return undefined;
  const [low = 0, high = 0] = [numberOf(factors, 'low'), numberOf(factors, 'high')];
  if (low > 0 && high >= low) return { points: numberOf(factors, 'points') ?? 0, low, high };
  throw badProfile(`${key} of held_out_factors must have a low above 0 and a high from it on`);
}

function noiseOf(from: Section): StepNoise | undefined {
  const section = sectionOf(from, 'noise');
  return (
    section && { decode: quantilesOf(section, 'decode'), prefill: quantilesOf(section, 'prefill') }
  );
}

function quantilesOf(from: Section, key: string): readonly number[] | undefined {
  if (from[key] === undefined) return undefined;
  const quantiles = listOf(from, key);
  const isRising = quantiles.every((one, i) => one > 0 && (i === 0 || one >= quantiles[i - 1]!));
  if (isRising && quantiles.length === NOISE_PROBABILITIES.length) return quantiles;
  throw badProfile(
    `${key} of noise must be ${NOISE_PROBABILITIES.length} factors above 0 that do not fall`,
  );
}

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
