import { assert, type Micros, type RandomStream, unreachable } from '@baton/kernel';
import { Column } from './column';

/**
 * When requests arrive. Rates are in requests per second.
 *
 * - `poisson`: independent exponential gaps;
 * - `gamma`: gaps of mean 1 / rate and gamma shape `burstiness`: below 1 they are burstier than
 *   Poisson, above 1 more regular (`vllm bench serve --burstiness`);
 * - `constant`: one every 1 / rate, the first at 0;
 * - `ramp`: gaps as for `gamma`, with a rate that goes from `from` to `to` by the index of the
 *   request (`vllm bench serve --ramp-up-strategy`);
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
  /** Maximum number of arrivals. Infinity is allowed with a duration and finite rates. */
  readonly count: number;
  /** Arrivals at and after this instant are left out. */
  readonly durationUs?: Micros | undefined;
  /**
   * Stretches random gaps so that the last of `count` arrivals falls on count / rate, as `vllm
   * bench serve` does. All seeds then have the same rate. Not for ramps.
   */
  readonly exactRate?: boolean | undefined;
}

const US_PER_SECOND = 1_000_000;

/**
 * Instants of arrival, ascending, in whole µs. Several may be equal.
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
  assert(isBounded || canEnd, 'arrivals need a limit: a number or a duration');
  const instantUs = instants(spec, limits, random);
  const arrivalUs = new Column(Float64Array);
  for (let i = 0; i < limits.count; i++) {
    const atUs = Math.round(instantUs(i));
    if (atUs >= untilUs) break;
    arrivalUs.push(atUs);
  }
  return arrivalUs.take();
}

/** Called once for each i, ascending from 0. */
type Instants = (i: number) => Micros;

function instants(spec: ArrivalSpec, limits: ArrivalLimits, random: RandomStream): Instants {
  switch (spec.kind) {
    case 'at-once':
      return () => 0;
    case 'constant': {
      assertRate(spec.ratePerSecond);
      // Computed from the index, so that rounding errors never add up.
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

/**
 * Running sums of gaps. With an exact rate they are stretched to end at `count` times the mean gap.
 */
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
  assert(
    ratePerSecond > 0 && Number.isFinite(ratePerSecond),
    `invalid arrival rate: ${ratePerSecond}`,
  );
}

function assertShape(burstiness: number): void {
  assert(burstiness > 0 && Number.isFinite(burstiness), `invalid burstiness: ${burstiness}`);
}
