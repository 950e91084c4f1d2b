import { HardwareError } from '../hardware-error';
import type { PolynomialSpec } from './polynomial';

/**
 * Reads a profile as xPyD-sim's `calibrate` writes it (already parsed from YAML): `prefill: {type: poly1d, coefficients, x_range}` over
 * prompt tokens, highest power first, and `decode: {type: poly2d, coefficients, bs_range, ctx_range}` for `[1, bs, ctx, bs·ctx, bs², ctx²]`.
 * Its `kv_transfer` fit is not a step and is left to the transfer model.
 *
 * @throws HardwareError `bad-profile`
 */
export function polynomialFromXpydProfile(profile: unknown): PolynomialSpec {
  const prefill = section(profile, 'prefill');
  const decode = section(profile, 'decode');
  if (!prefill && !decode) throw bad('it has neither a prefill nor a decode section');
  return {
    kind: 'polynomial',
    ...(prefill && {
      prefill: {
        coefficients: numbers(prefill, 'prefill.coefficients', 3),
        ...range(prefill, 'x_range', 'tokenRange'),
      },
    }),
    ...(decode && {
      decode: {
        kind: 'batch-context',
        coefficients: numbers(decode, 'decode.coefficients', 6),
        ...range(decode, 'bs_range', 'batchRange'),
        ...range(decode, 'ctx_range', 'contextRange'),
      },
    }),
  };
}

type Section = Readonly<Record<string, unknown>>;
type Triple = readonly [number, number, number];
type Sextuple = readonly [number, number, number, number, number, number];

function section(profile: unknown, name: string): Section | undefined {
  if (!isObject(profile)) throw bad('it is not a mapping');
  const value = profile[name];
  if (value === undefined) return undefined;
  if (!isObject(value)) throw bad(`${name} is not a mapping`);
  return value;
}

function numbers(from: Section, where: string, count: 3): Triple;
function numbers(from: Section, where: string, count: 6): Sextuple;
function numbers(from: Section, where: string, count: number): readonly number[] {
  const value = from['coefficients'];
  if (isNumbers(value, count)) return value;
  throw bad(`${where} must be ${count} numbers`);
}

function range<K extends string>(from: Section, key: string, as: K) {
  const value = from[key];
  if (value === undefined) return {};
  if (!isNumbers(value, 2)) throw bad(`${key} must be two numbers`);
  return { [as]: value as readonly [number, number] } as {
    readonly [name in K]: readonly [number, number];
  };
}

function isNumbers(value: unknown, count: number): value is number[] {
  return Array.isArray(value) && value.length === count && value.every(Number.isFinite);
}

function isObject(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(why: string): HardwareError {
  return new HardwareError('bad-profile', `The polynomial profile cannot be used: ${why}.`);
}
