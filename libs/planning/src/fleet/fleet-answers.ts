import { roundTo } from '@baton/analysis';
import { gpusOf } from './fleet';
import type { PreparedFleets } from './prepare-fleets';
import { cheapest, type FleetResult, type FleetsFound, isKept } from './search-fleets';

/** A fleet as an answer. */
export interface AnsweredFleet {
  readonly name: string;
  readonly gpus: number;
  readonly usd_per_hour: number | null;
  readonly goodput_rps: number | null;
  readonly usd_per_thousand_requests: number | null;
}

/** Null: no fleet that was tried on the whole workload does it. */
export interface FleetAnswers {
  /** The cheapest that keeps the SLO at the rate of the workload. */
  readonly cheapest_for_load: AnsweredFleet | null;
  /** The one with the fewest GPUs that does. */
  readonly fewest_gpus_for_load: AnsweredFleet | null;
  /** The highest goodput within the budget, or without one of the GPUs that there are. */
  readonly most_goodput: AnsweredFleet | null;
  /** The lowest price of a request at the highest rate. */
  readonly cheapest_requests: AnsweredFleet | null;
}

export function fleetAnswers({ loadRps }: PreparedFleets, found: FleetsFound): FleetAnswers {
  const all = [...found.forLoad, ...found.finalists].filter(isKept);
  const able = all.filter(({ measured }) => measured.rate >= loadRps);
  const best = (results: readonly FleetResult[], cost: (one: FleetResult) => number) => {
    const [first, ...rest] = results;
    if (first === undefined) return null;
    return answered(rest.reduce((top, one) => (cost(one) < cost(top) ? one : top), first));
  };
  const low = cheapest(able);
  return {
    cheapest_for_load: low === undefined ? null : answered(low),
    fewest_gpus_for_load: best(able, gpuCount),
    most_goodput: best(all, ({ measured }) => -measured.completedRate),
    cheapest_requests: best(
      found.finalists.filter(isKept),
      ({ fleet, measured }) => fleet.usdPerHour / measured.completedRate,
    ),
  };
}

export function gpuCount({ fleet }: FleetResult): number {
  return [...gpusOf(fleet.pools).values()].reduce((sum, count) => sum + count, 0);
}

function answered(result: FleetResult): AnsweredFleet {
  const { fleet, measured } = result;
  return {
    name: fleet.name,
    gpus: gpuCount(result),
    usd_per_hour: roundTo(fleet.usdPerHour, 6),
    goodput_rps: roundTo(measured.completedRate, 6),
    usd_per_thousand_requests: measured.figures?.cost?.usd_per_thousand_requests ?? null,
  };
}
