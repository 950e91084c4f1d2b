import type { FactorProfile } from '@baton/step-time';
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
import {
  asSection,
  badProfile,
  checkKeys,
  numberOf,
  type Section,
  sectionOf,
  textOf,
  withoutUnset,
} from './profile-values';

const KNOWN = [
  ...[...NOTES, 'model', 'gpu', 'tensor_parallel_size', 'precision'],
  'own_operators',
  ...['factors', 'standard_errors', 'valid', ...MEASURED],
];

/** The mapping for `stepTimeFromProfile`, ready to be written as YAML. */
export function factorsToFile(profile: FactorProfile, standardErrors: Section): Section {
  return withoutUnset({
    kind: 'factors',
    model: profile.model,
    gpu: profile.gpu,
    tensor_parallel_size: profile.tp,
    precision: profile.precision,
    own_operators: profile.ownOperators,
    formula: 'prefill * (step without decode) + decode * (what decode adds) + constant_ms',
    factors: {
      ...{ prefill: profile.prefill, decode: profile.decode, constant_ms: profile.constantMs },
    },
    standard_errors: standardErrors,
    valid: validToFile(profile.valid),
    error_percent: errorsToFile(profile),
    ...residualsToFile(profile),
  });
}

/** @throws HardwareError `bad-profile` */
export function factorsFromFile(from: Section): FactorProfile {
  checkKeys(from, KNOWN);
  const factors = asSection(from['factors'], 'factors');
  return {
    model: textOf(from, 'model'),
    gpu: textOf(from, 'gpu'),
    tp: numberOf(from, 'tensor_parallel_size'),
    precision: textOf(from, 'precision'),
    ownOperators: textOf(from, 'own_operators'),
    prefill: factorOf(factors, 'prefill'),
    decode: factorOf(factors, 'decode'),
    constantMs: Math.max(0, numberOf(factors, 'constant_ms') ?? 0),
    valid: validOf(sectionOf(from, 'valid') ?? {}),
    ...errorsOf(from),
    ...residualsOf(from),
  };
}

function factorOf(from: Section, key: string): number {
  const value = numberOf(from, key) ?? 1;
  if (value > 0) return value;
  throw badProfile(`${key} of factors must be above 0`);
}
