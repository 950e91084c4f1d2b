import type { FigureIntervals, Interval } from '@baton/analysis';
import { goodputInterval } from '../candidates/told-apart';
import { type Ends, roundedEnds } from '../document/cell-ends';
import { autoscalerIn } from '../search/fleet-scaling';
import type { FleetResult } from './search-fleets';

/** 80 % intervals of a fleet's figures, by their names. */
export interface FleetIntervals extends Pick<
  FigureIntervals,
  'slo_attainment' | 'ttft_ms' | 'tpot_ms'
> {
  readonly goodput_rps: Ends;
  /** Null for a fleet with an autoscaler, whose dollars per hour depend on the load too. */
  readonly usd_per_thousand_requests: Ends;
  readonly usd_per_million_output_tokens: Ends;
}

/** Null: no rate keeps the SLO. */
export function fleetIntervals({ fleet, measured, windows }: FleetResult): FleetIntervals | null {
  const { figures, completedRate } = measured;
  const goodput = goodputInterval(measured, windows);
  if (figures === undefined || goodput === undefined) return null;
  const isScaled = autoscalerIn(fleet.varied) !== undefined;
  const priced = (usd: number | null | undefined): Ends => {
    return isScaled || !usd ? null : pricesAt(goodput, usd * completedRate);
  };
  const { slo_attainment, ttft_ms, tpot_ms } = figures.intervals;
  return {
    goodput_rps: roundedEnds(goodput),
    slo_attainment,
    ttft_ms,
    tpot_ms,
    usd_per_thousand_requests: priced(figures.cost?.usd_per_thousand_requests),
    usd_per_million_output_tokens: priced(figures.cost?.usd_per_million_output_tokens),
  };
}

/** A fixed price per hour over a rate that lies between two ends. */
function pricesAt([low, high]: Interval, price: number): Ends {
  return low > 0 ? roundedEnds([price / high, price / low]) : null;
}
