import { assert } from '@baton/kernel';
import type { Micros, RandomStream } from '@baton/kernel';

/** Instants of arrival without end, in order, from `startUs` on. Whole µs; several may fall on one. */
export type Arrivals = Generator<Micros, never>;

const US_PER_SECOND = 1_000_000;

/** One arrival every 1 / rate, the first at `startUs`. Rounding never adds up. */
export function* constantArrivals(ratePerSecond: number, startUs: Micros = 0): Arrivals {
  assertRate(ratePerSecond);
  for (let i = 0; ; i += 1) yield startUs + Math.round((i * US_PER_SECOND) / ratePerSecond);
}

/** A Poisson process: independent exponential gaps with mean 1 / rate, the first before the first arrival. */
export function* poissonArrivals(
  ratePerSecond: number,
  random: RandomStream,
  startUs: Micros = 0,
): Arrivals {
  assertRate(ratePerSecond);
  const meanGapUs = US_PER_SECOND / ratePerSecond;
  for (
    let elapsedUs = random.exponential(meanGapUs);
    ;
    elapsedUs += random.exponential(meanGapUs)
  ) {
    yield startUs + Math.round(elapsedUs);
  }
}

function assertRate(ratePerSecond: number): void {
  assert(ratePerSecond > 0 && Number.isFinite(ratePerSecond), `no arrival rate: ${ratePerSecond}`);
}
