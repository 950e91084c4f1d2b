import type { LinkTiming } from '@baton/hardware';
import type { PolynomialSpec } from '../models/polynomial';
import {
  asSection,
  badProfile,
  numbersOf,
  rangeOf,
  type Section,
  sectionOf,
} from './profile-values';

/**
 * Reads a profile as xPyD-sim's `calibrate` writes it (already parsed from YAML): `prefill: {type:
 * poly1d, coefficients, x_range}` over prompt tokens, highest power first, and `decode: {type:
 * poly2d, coefficients, bs_range, ctx_range}` for `[1, bs, ctx, bs·ctx, bs², ctx²]`. Its
 * `kv_transfer` fit is not a step: see `kvTimingFromXpydProfile`.
 *
 * @throws HardwareError `bad-profile`
 */
export function polynomialFromXpydProfile(profile: unknown): PolynomialSpec {
  const from = asSection(profile, 'it');
  const prefill = fitOf(from, 'prefill', 'poly1d');
  const decode = fitOf(from, 'decode', 'poly2d');
  if (!prefill && !decode) throw badProfile('it has neither a prefill nor a decode section');
  return {
    kind: 'polynomial',
    prefill: prefill && {
      coefficients: numbersOf(prefill, 'coefficients', 3),
      tokenRange: rangeOf(prefill, 'x_range'),
    },
    decode: decode && {
      kind: 'batch-context',
      coefficients: numbersOf(decode, 'coefficients', 6),
      batchRange: rangeOf(decode, 'bs_range'),
      contextRange: rangeOf(decode, 'ctx_range'),
    },
  };
}

/** The mapping for `polynomialFromXpydProfile`, also readable by xPyD-sim. */
export function polynomialToXpydProfile({ prefill, decode }: PolynomialSpec): Section {
  return {
    ...(prefill && {
      prefill: {
        type: 'poly1d',
        coefficients: prefill.coefficients,
        x_key: 'batch_size',
        y_key: 'delay_ms',
        ...(prefill.tokenRange && { x_range: prefill.tokenRange }),
      },
    }),
    ...(decode?.kind === 'batch-context' && {
      decode: {
        type: 'poly2d',
        coefficients: decode.coefficients,
        ...(decode.batchRange && { bs_range: decode.batchRange }),
        ...(decode.contextRange && { ctx_range: decode.contextRange }),
      },
    }),
  };
}

/**
 * The times of a KV transfer from the profile's `kv_transfer` fit: the straight line through the
 * values of its parabola at both ends of the measured range of tokens.
 *
 * @throws HardwareError `bad-profile`
 */
export function kvTimingFromXpydProfile(
  profile: unknown,
): Omit<LinkTiming, 'kvBytesPerToken'> | undefined {
  const fit = fitOf(asSection(profile, 'it'), 'kv_transfer', 'poly1d');
  if (fit === undefined) return undefined;
  const [a, b, c] = numbersOf<readonly [number, number, number]>(fit, 'coefficients', 3);
  const [low, high] = rangeOf(fit, 'x_range') ?? [0, 0];
  return {
    latencyMs: Math.max(0, c - a * low * high),
    perTokenMs: Math.max(0, b + a * (low + high)),
  };
}

function fitOf(profile: Section, key: string, type: string): Section | undefined {
  const fit = sectionOf(profile, key);
  const given = fit?.['type'];
  if (given === undefined || given === type) return fit;
  throw badProfile(`the type of ${key} must be ${type}`);
}
