import { assert, mix, unitOf, unreachable } from '@baton/kernel';

/**
 * A distribution of lengths in tokens.
 *
 * - `constant`: always `tokens`;
 * - `uniform`: every whole number from `min` to `max` equally often;
 * - `lognormal`: arithmetic mean `mean` before the bounds, `sigma` the standard deviation of the
 *   logarithm;
 * - `geometric`: each token ends the sequence with probability 1 / `mean`;
 * - `histogram`: a bucket by its weight, then every whole number of it equally often;
 * - `empirical`: one of the given lengths, each equally often.
 */
export type LengthSpec =
  | { readonly kind: 'constant'; readonly tokens: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  | ({ readonly kind: 'lognormal'; readonly mean: number; readonly sigma: number } & Bounds)
  | ({ readonly kind: 'geometric'; readonly mean: number } & Bounds)
  | { readonly kind: 'histogram'; readonly buckets: readonly LengthBucket[] }
  | { readonly kind: 'empirical'; readonly tokens: ArrayLike<number> };

/** Lengths from `min` to `max`, both included. */
export interface LengthBucket {
  readonly min: number;
  readonly max: number;
  /** Above 0. Its share of the sum of weights is its probability. */
  readonly weight: number;
}

/** A length beyond a bound becomes the bound. */
export interface Bounds {
  /** Default: 1. */
  readonly min?: number;
  /** Default: 2^31 - 1. */
  readonly max?: number;
}

/**
 * The length of the request with this hash under this seed, a whole number >= 1. Seed and hash are
 * integers in [0, 2^53). The length depends on nothing else: neither the order of requests nor
 * time.
 */
export type LengthModel = (seed: number, requestHash: number) => number;

const LONGEST = 2 ** 31 - 1;
/**
 * Constants that separate the draws of a length from each other and from other uses of the same
 * hash.
 */
const FIRST_DRAW = 0x4c45_4e31;
const SECOND_DRAW = 0x4c45_4e32;

export function buildLengthModel(spec: LengthSpec): LengthModel {
  switch (spec.kind) {
    case 'constant':
      return constantLength(spec.tokens);
    case 'uniform':
      return uniformLength(spec.min, spec.max);
    case 'lognormal':
      return lognormalLength(spec.mean, spec.sigma, spec);
    case 'geometric':
      return geometricLength(spec.mean, spec);
    case 'histogram':
      return histogramLength(spec.buckets);
    case 'empirical':
      return empiricalLength(spec.tokens);
    default:
      return unreachable(spec);
  }
}

function constantLength(tokens: number): LengthModel {
  assertLength(tokens);
  return () => tokens;
}

function uniformLength(min: number, max: number): LengthModel {
  assertLength(min);
  assertLength(max);
  assert(min <= max, `invalid range of lengths: ${min} to ${max}`);
  return (seed, hash) => min + Math.floor(draw(seed, hash, FIRST_DRAW) * (max - min + 1));
}

function lognormalLength(mean: number, sigma: number, bounds: Bounds): LengthModel {
  assert(mean > 0 && sigma >= 0, `invalid lognormal: mean ${mean}, sigma ${sigma}`);
  const mu = Math.log(mean) - (sigma * sigma) / 2;
  return (seed, hash) => within(bounds, Math.exp(mu + sigma * normal(seed, hash)));
}

function geometricLength(mean: number, bounds: Bounds): LengthModel {
  assert(mean >= 1, `a mean of ${mean} tokens is below the shortest length`);
  const logStay = Math.log1p(-1 / mean);
  return (seed, hash) =>
    within(bounds, 1 + Math.floor(Math.log1p(-draw(seed, hash, FIRST_DRAW)) / logStay));
}

function histogramLength(buckets: readonly LengthBucket[]): LengthModel {
  assert(buckets.length > 0, 'a histogram of lengths needs buckets');
  let total = 0;
  const ends = buckets.map(({ min, max, weight }) => {
    assertLength(min);
    assertLength(max);
    assert(min <= max, `invalid range of lengths: ${min} to ${max}`);
    assert(weight > 0 && Number.isFinite(weight), `invalid weight: ${weight}`);
    return (total += weight);
  });
  return (seed, hash) => {
    const drawn = draw(seed, hash, FIRST_DRAW) * total;
    const { min, max } = buckets[ends.findIndex((end) => drawn < end)] ?? buckets.at(-1)!;
    return min + Math.floor(draw(seed, hash, SECOND_DRAW) * (max - min + 1));
  };
}

function empiricalLength(tokens: ArrayLike<number>): LengthModel {
  assert(tokens.length > 0, 'an empirical length model needs lengths');
  for (let i = 0; i < tokens.length; i++) assertLength(tokens[i] ?? 0);
  return (seed, hash) => tokens[Math.floor(draw(seed, hash, FIRST_DRAW) * tokens.length)] ?? 1;
}

/** Uniform in [0, 1). */
function draw(seed: number, hash: number, purpose: number): number {
  return unitOf(mix(mix(seed, purpose), hash));
}

/** Standard normal, by the method of Box and Muller. */
function normal(seed: number, hash: number): number {
  const radius = Math.sqrt(-2 * Math.log1p(-draw(seed, hash, FIRST_DRAW)));
  return radius * Math.cos(2 * Math.PI * draw(seed, hash, SECOND_DRAW));
}

function within({ min = 1, max = LONGEST }: Bounds, length: number): number {
  return Math.min(Math.max(Math.round(length), min), max);
}

function assertLength(tokens: number): void {
  assert(Number.isInteger(tokens) && tokens >= 1 && tokens <= LONGEST, `invalid length: ${tokens}`);
}
