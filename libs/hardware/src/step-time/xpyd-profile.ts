import { HardwareError } from '../hardware-error';
import type { PolynomialSpec } from './polynomial';

/**
 * Reads a profile as xPyD-sim's `calibrate` writes it (already parsed from YAML): `prefill: {type:
 * poly1d, coefficients, x_range}` over prompt tokens, highest power first, and `decode: {type:
 * poly2d, coefficients, bs_range, ctx_range}` for `[1, bs, ctx, bs·ctx, bs², ctx²]`. Its
 * `kv_transfer` fit is not a step and is left to the transfer model.
 *
 * @throws HardwareError `bad-profile`
 */
export function polynomialFromXpydProfile(profile: unknown): PolynomialSpec {
  const prefill = section(profile, 'prefill');
  const decode = section(profile, 'decode');
  if (!prefill && !decode) throw bad('it has neither a prefill nor a decode section');
  return {
    kind: 'polynomial',
    prefill: prefill && {
      coefficients: coefficients(prefill, 3),
      tokenRange: range(prefill, 'x_range'),
    },
    decode: decode && {
      kind: 'batch-context',
      coefficients: coefficients(decode, 6),
      batchRange: range(decode, 'bs_range'),
      contextRange: range(decode, 'ctx_range'),
    },
  };
}

type Section = Readonly<Record<string, unknown>>;
type Range = readonly [number, number];

function section(profile: unknown, name: string): Section | undefined {
  if (!isObject(profile)) throw bad('it is not a mapping');
  const value = profile[name];
  if (value === undefined) return undefined;
  if (!isObject(value)) throw bad(`${name} is not a mapping`);
  return value;
}

function coefficients<T extends readonly number[]>(from: Section, count: T['length']): T {
  const value = from['coefficients'];
  if (isNumbers<T>(value, count)) return value;
  throw bad(`its coefficients must be ${count} numbers`);
}

function range(from: Section, key: string): Range | undefined {
  const value = from[key];
  if (value === undefined || isNumbers<Range>(value, 2)) return value;
  throw bad(`${key} must be two numbers`);
}

function isNumbers<T extends readonly number[]>(value: unknown, count: number): value is T {
  return Array.isArray(value) && value.length === count && value.every(Number.isFinite);
}

function isObject(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(why: string): HardwareError {
  return new HardwareError('bad-profile', `The polynomial profile cannot be used: ${why}.`);
}
