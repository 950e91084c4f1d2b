import type { BlisSpec } from '../models/blis';
import type { CalibratedSpec } from '../models/calibrated';
import type { PolynomialSpec } from '../models/polynomial';
import type { ValidRange } from '../port/valid-range';
import type { FitError, StepTimeProfile } from '../profiles/step-time-profile';
import {
  asSection,
  badProfile,
  checkKeys,
  isSection,
  listOf,
  numberOf,
  numbersOf,
  rangeOf,
  type Section,
  sectionOf,
  textOf,
} from './profile-values';
import { polynomialFromXpydProfile } from './xpyd-profile';

/** What a profile says besides the model: free text and figures for people. */
const NOTES = ['kind', 'formula', 'unit', 'source', 'fit'];
const CALIBRATED = [
  ...NOTES,
  'model',
  'gpu',
  'tensor_parallel_size',
  'linear',
  'decode_attention_ms',
  'prefill_attention_ms',
  'overhead_ms',
  'mixed_decode_factor',
  'valid',
  'error_percent',
];

/**
 * The model that a profile file describes, already parsed from YAML or JSON: what `baton calibrate`
 * writes (`kind: calibrated`), what xPyD-sim's `calibrate` writes (`prefill`, `decode`), or BLIS's
 * coefficients (`beta_coeffs`, also under `trained_physics_coefficients`).
 *
 * @throws HardwareError `bad-profile`
 */
export function stepTimeFromProfile(parsed: unknown): CalibratedSpec | PolynomialSpec | BlisSpec {
  const profile = asSection(parsed, 'it');
  const blis = sectionOf(profile, 'trained_physics_coefficients') ?? profile;
  if (blis['beta_coeffs'] !== undefined) return { kind: 'blis', beta: listOf(blis, 'beta_coeffs') };
  if (isSection(profile['prefill']) || isSection(profile['decode'])) {
    return polynomialFromXpydProfile(profile);
  }
  if (profile['kind'] === 'calibrated') {
    return { kind: 'calibrated', profile: calibratedOf(profile) };
  }
  throw badProfile('it has neither kind: calibrated, nor prefill and decode, nor beta_coeffs');
}

/** The mapping that `stepTimeFromProfile` reads, ready to be written as YAML. */
export function profileToFile(profile: StepTimeProfile): Section {
  const { valid, decodeErrorPercent: decode, prefillErrorPercent: prefill } = profile;
  return withoutUnset({
    kind: 'calibrated',
    model: profile.model,
    gpu: profile.gpu,
    tensor_parallel_size: profile.tp,
    unit: 'ms',
    formula:
      'linear(tokens) + [decode] g0 + g1 * sequences + g2 * sum(context) ' +
      '+ [prefill] h0 + h1 * sum((p + n)^2 - p^2) + overhead',
    linear: profile.linear,
    decode_attention_ms: profile.decodeAttentionMs,
    prefill_attention_ms: profile.prefillAttentionMs,
    overhead_ms: profile.overheadMs,
    mixed_decode_factor: profile.mixedDecodeFactor,
    valid: withoutUnset({
      step_tokens: valid.stepTokens,
      prefill_tokens: valid.prefillTokens,
      prefill_quadratic_max: valid.prefillQuadraticMax,
      decode_seqs: valid.decodeSeqs,
      decode_context_max: valid.decodeContextMax,
      mean_context_max: valid.meanContextMax,
    }),
    error_percent: withoutUnset({ decode, prefill }),
  });
}

function calibratedOf(from: Section): StepTimeProfile {
  checkKeys(from, CALIBRATED);
  const error = sectionOf(from, 'error_percent') ?? {};
  return {
    model: textOf(from, 'model'),
    gpu: textOf(from, 'gpu'),
    tp: numberOf(from, 'tensor_parallel_size'),
    linear: linearOf(asSection(from['linear'], 'linear')),
    decodeAttentionMs: numbersOf(from, 'decode_attention_ms', 3),
    prefillAttentionMs: numbersOf(from, 'prefill_attention_ms', 2),
    overheadMs: numberOf(from, 'overhead_ms') ?? 0,
    mixedDecodeFactor: numberOf(from, 'mixed_decode_factor'),
    valid: validOf(sectionOf(from, 'valid') ?? {}),
    decodeErrorPercent: errorOf(error, 'decode'),
    prefillErrorPercent: errorOf(error, 'prefill'),
  };
}

function linearOf(from: Section): StepTimeProfile['linear'] {
  const tokens = listOf(from, 'tokens');
  const ms = listOf(from, 'ms');
  if (tokens.length !== ms.length) throw badProfile('linear needs as many ms as tokens');
  const isRising = tokens.every((value, i) => i === 0 || value > tokens[i - 1]!);
  if (!isRising) throw badProfile('the tokens of linear must rise');
  return { tokens, ms };
}

function validOf(from: Section): ValidRange {
  return {
    stepTokens: rangeOf(from, 'step_tokens'),
    prefillTokens: rangeOf(from, 'prefill_tokens'),
    prefillQuadraticMax: numberOf(from, 'prefill_quadratic_max'),
    decodeSeqs: rangeOf(from, 'decode_seqs'),
    decodeContextMax: numberOf(from, 'decode_context_max'),
    meanContextMax: numberOf(from, 'mean_context_max'),
  };
}

function errorOf(from: Section, key: string): FitError | undefined {
  const error = sectionOf(from, key);
  if (error === undefined) return undefined;
  return { mean: numberOf(error, 'mean') ?? 0, max: numberOf(error, 'max') ?? 0 };
}

function withoutUnset(from: Section): Section {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined));
}
