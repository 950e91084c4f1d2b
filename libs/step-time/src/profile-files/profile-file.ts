import { isObject } from '@baton/kernel';
import type { BlisSpec } from '../models/blis';
import type { CalibratedSpec } from '../models/calibrated';
import type { FactorSpec } from '../build-step-time-model';
import type { PolynomialSpec } from '../models/polynomial';
import type { StepTimeProfile } from '../profiles/step-time-profile';
import {
  asSection,
  badProfile,
  checkKeys,
  listOf,
  numberOf,
  numbersOf,
  type Section,
  sectionOf,
  textOf,
  withoutUnset,
} from './profile-values';
import { factorsFromFile } from './factor-file';
import {
  errorsOf,
  errorsToFile,
  MEASURED,
  NOTES,
  residualsOf,
  residualsToFile,
  validOf,
  validToFile,
} from './profile-parts';
import { polynomialFromXpydProfile } from './xpyd-profile';

const CALIBRATED = [
  ...NOTES,
  'model',
  'gpu',
  'tensor_parallel_size',
  'precision',
  'linear',
  'decode_attention_ms',
  'prefill_attention_ms',
  'overhead_ms',
  'mixed_decode_factor',
  'valid',
  ...MEASURED,
];

/**
 * The model of a profile file, already parsed from YAML or JSON, in the format of `baton calibrate`
 * (`kind: calibrated`), of xPyD-sim's `calibrate` (`prefill`, `decode`), or with BLIS's
 * coefficients (`beta_coeffs`, also under `trained_physics_coefficients`).
 *
 * @throws HardwareError `bad-profile`
 */
export function stepTimeFromProfile(
  parsed: unknown,
): CalibratedSpec | FactorSpec | PolynomialSpec | BlisSpec {
  const profile = asSection(parsed, 'it');
  const blis = sectionOf(profile, 'trained_physics_coefficients') ?? profile;
  if (blis['beta_coeffs'] !== undefined) return { kind: 'blis', beta: listOf(blis, 'beta_coeffs') };
  if (isObject(profile['prefill']) || isObject(profile['decode'])) {
    return polynomialFromXpydProfile(profile);
  }
  if (profile['kind'] === 'calibrated') {
    return { kind: 'calibrated', profile: calibratedOf(profile) };
  }
  if (profile['kind'] === 'factors') return { kind: 'factors', profile: factorsFromFile(profile) };
  throw badProfile(
    'it has neither kind: calibrated or factors, nor prefill and decode, nor beta_coeffs',
  );
}

/** The mapping for `stepTimeFromProfile`, ready to be written as YAML. */
export function profileToFile(profile: StepTimeProfile): Section {
  const { valid } = profile;
  return withoutUnset({
    kind: 'calibrated',
    model: profile.model,
    gpu: profile.gpu,
    tensor_parallel_size: profile.tp,
    precision: profile.precision,
    unit: 'ms',
    formula:
      'linear(tokens) + [decode] g0 + g1 * sequences + g2 * sum(context) ' +
      '+ [prefill] h0 + h1 * sum((p + n)^2 - p^2) + overhead',
    linear: profile.linear,
    decode_attention_ms: profile.decodeAttentionMs,
    prefill_attention_ms: profile.prefillAttentionMs,
    overhead_ms: profile.overheadMs,
    mixed_decode_factor: profile.mixedDecodeFactor,
    valid: validToFile(valid),
    error_percent: errorsToFile(profile),
    ...residualsToFile(profile),
  });
}

function calibratedOf(from: Section): StepTimeProfile {
  checkKeys(from, CALIBRATED);
  return {
    model: textOf(from, 'model'),
    gpu: textOf(from, 'gpu'),
    tp: numberOf(from, 'tensor_parallel_size'),
    precision: textOf(from, 'precision'),
    linear: linearOf(asSection(from['linear'], 'linear')),
    decodeAttentionMs: numbersOf(from, 'decode_attention_ms', 3),
    prefillAttentionMs: numbersOf(from, 'prefill_attention_ms', 2),
    overheadMs: numberOf(from, 'overhead_ms') ?? 0,
    mixedDecodeFactor: numberOf(from, 'mixed_decode_factor'),
    valid: validOf(sectionOf(from, 'valid') ?? {}),
    ...errorsOf(from),
    ...residualsOf(from),
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
