import { assert, type Micros, type RandomStream, unreachable } from '@baton/kernel';
import { Column } from './column';

/**
 * When requests arrive; rates in requests per second.
 *
 * - `poisson`: independent exponential gaps;
 * - `gamma`: gaps of mean 1 / rate and gamma shape `burstiness`: below 1 burstier than Poisson,
 *   above it more regular (`vllm bench serve --burstiness`);
 * - `constant`: one every 1 / rate, the first at 0;
 * - `ramp`: gaps as gamma, the rate going from `from` to `to` over the requests by index, as `vllm
 *   bench serve --ramp-up-strategy` does;
 * - `at-once`: all at 0 (a request rate of `inf`).
 */
export type ArrivalSpec =
  | { readonly kind: 'poisson'; readonly ratePerSecond: number }
  | { readonly kind: 'gamma'; readonly ratePerSecond: number; readonly burstiness: number }
  | { readonly kind: 'constant'; readonly ratePerSecond: number }
  | {
      readonly kind: 'ramp';
      readonly strategy: 'linear' | 'exponential';
      readonly fromRatePerSecond: number;
      readonly toRatePerSecond: number;
      readonly burstiness: number;
    }
  | { readonly kind: 'at-once' };

export interface ArrivalLimits {
  /** Most arrivals; may be Infinity when a duration is given and rates are finite. */
  readonly count: number;
  /** Only what arrives before. */
  readonly durationUs?: Micros | undefined;
  /**
   * Stretches random gaps so that the last of `count` arrivals falls on count / rate, as `vllm
   * bench serve` does: two seeds then ask for the same throughput. Not for ramps.
   */
  readonly exactRate?: boolean | undefined;
}

const US_PER_SECOND = 1_000_000;

/**
 * Instants of arrival, ascending, in whole µs; several may fall on one.
 *
 * @throws InvariantError for invalid rates and shapes
 */
export function drawArrivals(
  spec: ArrivalSpec,
  limits: ArrivalLimits,
  random: RandomStream,
): Float64Array {
  const untilUs = limits.durationUs ?? Infinity;
  const isBounded = Number.isFinite(limits.count);
  const canEnd = spec.kind !== 'ramp' && spec.kind !== 'at-once' && Number.isFinite(untilUs);
  assert(isBounded || canEnd, 'arrivals end by their number or by a duration');
  const instantUs = instants(spec, limits, random);
  const arrivalUs = new Column(Float64Array);
  for (let i = 0; i < limits.count; i++) {
    const atUs = Math.round(instantUs(i));
    if (atUs >= untilUs) break;
    arrivalUs.push(atUs);
  }
  return arrivalUs.take();
}

/** Asked once for each i from 0 on, in order. */
type Instants = (i: number) => Micros;

function instants(spec: ArrivalSpec, limits: ArrivalLimits, random: RandomStream): Instants {
  switch (spec.kind) {
    case 'at-once':
      return () => 0;
    case 'constant': {
      assertRate(spec.ratePerSecond);
      // By index, so that rounding never adds up.
      return (i) => (i * US_PER_SECOND) / spec.ratePerSecond;
    }
    case 'poisson': {
      assertRate(spec.ratePerSecond);
      const meanUs = US_PER_SECOND / spec.ratePerSecond;
      return sums(() => random.exponential(meanUs), { ...limits, meanUs });
    }
    case 'gamma': {
      assertRate(spec.ratePerSecond);
      assertShape(spec.burstiness);
      const meanUs = US_PER_SECOND / spec.ratePerSecond;
      const scaleUs = meanUs / spec.burstiness;
      return sums(() => random.gamma(spec.burstiness, scaleUs), { ...limits, meanUs });
    }
    case 'ramp': {
      assertShape(spec.burstiness);
      const rateOf = ramp(spec, limits.count);
      return sums((i) =>
        random.gamma(spec.burstiness, US_PER_SECOND / rateOf(i) / spec.burstiness),
      );
    }
    default:
      return unreachable(spec);
  }
}

/** Running sums of gaps; with an exact rate, stretched to end at count gaps of the mean. */
function sums(
  gapUs: (i: number) => Micros,
  exact?: { readonly count: number; readonly exactRate?: boolean | undefined; meanUs: Micros },
): Instants {
  let atUs = 0;
  if (exact?.exactRate !== true || !Number.isFinite(exact.count)) return (i) => (atUs += gapUs(i));
  const sumsUs = new Float64Array(exact.count);
  for (let i = 0; i < exact.count; i++) sumsUs[i] = atUs += gapUs(i);
  const stretch = atUs === 0 ? 1 : (exact.count * exact.meanUs) / atUs;
  return (i) => sumsUs[i]! * stretch;
}

function ramp(spec: Extract<ArrivalSpec, { kind: 'ramp' }>, count: number): (i: number) => number {
  const { fromRatePerSecond: from, toRatePerSecond: to } = spec;
  assertRate(from);
  assertRate(to);
  const last = Math.max(1, count - 1);
  return spec.strategy === 'linear'
    ? (i) => from + (to - from) * (i / last)
    : (i) => from * (to / from) ** (i / last);
}

function assertRate(ratePerSecond: number): void {
  assert(ratePerSecond > 0 && Number.isFinite(ratePerSecond), `no arrival rate: ${ratePerSecond}`);
}

function assertShape(burstiness: number): void {
  assert(burstiness > 0 && Number.isFinite(burstiness), `no burstiness: ${burstiness}`);
}
