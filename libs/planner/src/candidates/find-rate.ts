import { assert } from '@baton/kernel';

export interface RateSearch<T> {
  /** The first rate: the analytic estimate, requests per second. */
  readonly startRate: number;
  /** Runs the cluster at this rate. Undefined when the target was missed. */
  readonly tryRate: (rate: number) => T | undefined;
  /** Relative width of the last interval (0.02 = 2 %). */
  readonly tolerance: number;
  /** Most runs. */
  readonly mostTries: number;
  /** True: the search gives up when the first rate misses the target. Default: false. */
  readonly isLowest?: boolean;
}

export interface FoundRate<T> {
  /** The highest rate at which the target was kept; 0 when none was found. */
  readonly rate: number;
  readonly result: T | undefined;
  readonly tries: number;
}

/**
 * Below this share of the estimate a candidate is dropped. Above its inverse the requests arrive
 * nearly together, and higher rates show nothing new.
 */
export const GIVEN_UP_SHARE = 1 / 1024;
const WIDEN = 1.5;

/**
 * The highest rate that keeps the target. The estimate is widened until the rate is bracketed, then
 * bisected. The first factor is `WIDEN`, and each next one the square of the factor before, so that
 * the search soon gives up a cluster that keeps no rate. Assumes that a cluster which keeps the
 * target at one rate keeps it at every lower one.
 */
export function findRate<T>(search: RateSearch<T>): FoundRate<T> {
  const { startRate, tryRate, tolerance, mostTries, isLowest = false } = search;
  const lowest = isLowest ? startRate : startRate * GIVEN_UP_SHARE;
  assert(startRate > 0 && tolerance > 0 && mostTries >= 1, 'a search has a beginning and an end');
  let best: { rate: number; result: T } | undefined;
  let lost = Infinity;
  let factor = WIDEN;
  let rate = startRate;
  let tries = 0;
  while (tries < mostTries && !isNarrow(best?.rate ?? 0, lost, tolerance)) {
    tries++;
    const result = tryRate(rate);
    if (result === undefined) lost = rate;
    else best = { rate, result };
    if (best !== undefined && lost < Infinity) {
      // In the middle on a logarithmic scale, as rates differ by factors.
      rate = Math.sqrt(best.rate * lost);
    } else {
      rate = best === undefined ? rate / factor : rate * factor;
      factor *= factor;
    }
    if (rate < lowest || rate > startRate / GIVEN_UP_SHARE) break;
  }
  return { rate: best?.rate ?? 0, result: best?.result, tries };
}

function isNarrow(sustained: number, lost: number, tolerance: number): boolean {
  return sustained > 0 && lost < Infinity && lost / sustained - 1 <= tolerance;
}
