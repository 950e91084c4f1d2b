import { roundTo } from '@baton/analysis';
import { ableAt, isKept, least, mostGoodput, usdPerHour, usdPerRequest } from './choose-fleet';
import { gpusOf } from './fleet';
import { type FleetIntervals, fleetIntervals } from './fleet-intervals';
import type { PreparedFleets } from './prepare-fleets';
import type { FleetResult, FleetsFound } from './search-fleets';

/** A fleet as an answer. */
export interface AnsweredFleet {
  readonly name: string;
  readonly gpus: number;
  readonly usd_per_hour: number | null;
  readonly goodput_rps: number | null;
  readonly usd_per_thousand_requests: number | null;
  /** 80 % intervals of the figures of the fleet. */
  readonly intervals: FleetIntervals | null;
}

/** Null: no fleet simulated on the whole workload qualifies. */
export interface FleetAnswers {
  /** The cheapest that keeps the SLO at the rate of the workload. */
  readonly cheapest_for_load: AnsweredFleet | null;
  /** The one with the fewest GPUs that keeps the SLO at that rate. */
  readonly fewest_gpus_for_load: AnsweredFleet | null;
  /** The highest goodput within the budget, or without a budget with all available GPUs. */
  readonly most_goodput: AnsweredFleet | null;
  /** The lowest price of a request at the highest rate. */
  readonly cheapest_requests: AnsweredFleet | null;
}

export function fleetAnswers({ loadRps }: PreparedFleets, found: FleetsFound): FleetAnswers {
  const all = [...found.forLoad, ...found.finalists];
  const able = ableAt(all, loadRps);
  return {
    cheapest_for_load: answered(least(able, usdPerHour)),
    fewest_gpus_for_load: answered(least(able, gpuCount)),
    most_goodput: answered(mostGoodput(all)),
    cheapest_requests: answered(least(found.finalists.filter(isKept), usdPerRequest)),
  };
}

export function gpuCount({ fleet }: FleetResult): number {
  return [...gpusOf(fleet.pools).values()].reduce((sum, count) => sum + count, 0);
}

function answered(result: FleetResult | undefined): AnsweredFleet | null {
  if (result === undefined) return null;
  const { fleet, measured } = result;
  return {
    name: fleet.name,
    gpus: gpuCount(result),
    usd_per_hour: roundTo(usdPerHour(result), 6),
    goodput_rps: roundTo(measured.completedRate, 6),
    usd_per_thousand_requests: measured.figures?.cost?.usd_per_thousand_requests ?? null,
    intervals: fleetIntervals(result),
  };
}
