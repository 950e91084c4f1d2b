import { autoscalerIn } from '../search/fleet-scaling';
import type { FleetResult } from './search-fleets';

/** True when the fleet keeps the target at some rate. */
export function isKept({ measured }: FleetResult): boolean {
  return measured.completedRate > 0;
}

/** Fleets that keep the target at a load, in requests per second. */
export function ableAt(results: readonly FleetResult[], loadRps: number): FleetResult[] {
  return results.filter((one) => isKept(one) && one.measured.rate >= loadRps);
}

/** The fleet with the lowest cost; of several with equal cost, the first. */
export function least(
  results: readonly FleetResult[],
  costOf: (one: FleetResult) => number,
): FleetResult | undefined {
  return results.reduce<FleetResult | undefined>((top, one) => {
    return top === undefined || costOf(one) < costOf(top) ? one : top;
  }, undefined);
}

/** Price of all engines per hour; with an autoscaler, of those that it used. */
export function usdPerHour({ fleet, measured }: FleetResult): number {
  const used = measured.figures?.cost?.usd_per_hour;
  return autoscalerIn(fleet.varied) === undefined ? fleet.usdPerHour : (used ?? fleet.usdPerHour);
}

export function usdPerRequest(result: FleetResult): number {
  return usdPerHour(result) / result.measured.completedRate;
}

/** The one with the highest goodput. */
export function mostGoodput(results: readonly FleetResult[]): FleetResult | undefined {
  return least(results.filter(isKept), ({ measured }) => -measured.completedRate);
}

/** A fleet to start, and the rate that it is chosen for, in requests per second. */
export interface ChosenFleet {
  readonly result: FleetResult;
  readonly rate: number;
}

/**
 * The cheapest fleet for the load, at that load. Without one: the fleet with the most goodput, at
 * its highest rate. Undefined: no fleet keeps the target.
 */
export function chosenFleet(
  results: readonly FleetResult[],
  loadRps: number,
): ChosenFleet | undefined {
  const able = least(ableAt(results, loadRps), usdPerHour);
  if (able !== undefined) return { result: able, rate: loadRps };
  const most = mostGoodput(results);
  return most && { result: most, rate: most.measured.rate };
}
