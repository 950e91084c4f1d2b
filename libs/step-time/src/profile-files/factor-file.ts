import { type FactorProfile } from '../models/factors';
import { FRAMEWORKS } from '../composed/framework';
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
  booleanOf,
  numberOf,
  type Section,
  sectionOf,
  textOf,
  withoutUnset,
} from './profile-values';

const KNOWN = [
  ...[...NOTES, 'model', 'gpu', 'tensor_parallel_size', 'precision'],
  ...['framework', 'data_parallel_size', 'expert_parallel', 'own_operators'],
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
    framework: profile.framework,
    data_parallel_size: profile.dp,
    expert_parallel: profile.expertParallel,
    own_operators: profile.ownOperators,
    formula: 'prefill * (step without decode) + decode * (what decode adds) + constant_ms',
    factors: {
      prefill: profile.prefill,
      decode: profile.decode,
      constant_ms: profile.constantMs,
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
    framework: frameworkOf(from),
    dp: numberOf(from, 'data_parallel_size'),
    expertParallel: booleanOf(from, 'expert_parallel'),
    ownOperators: textOf(from, 'own_operators'),
    prefill: factorOf(factors, 'prefill'),
    decode: factorOf(factors, 'decode'),
    constantMs: Math.max(0, numberOf(factors, 'constant_ms') ?? 0),
    valid: validOf(sectionOf(from, 'valid') ?? {}),
    ...errorsOf(from),
    ...residualsOf(from),
  };
}

function frameworkOf(from: Section): FactorProfile['framework'] {
  const name = textOf(from, 'framework');
  const framework = FRAMEWORKS.find((each) => each === name);
  if (name === framework) return framework;
  throw badProfile(`framework must be one of ${FRAMEWORKS.join(', ')}`);
}

function factorOf(from: Section, key: string): number {
  const value = numberOf(from, key) ?? 1;
  if (value > 0) return value;
  throw badProfile(`${key} of factors must be above 0`);
}
