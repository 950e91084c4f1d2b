import { type Distribution, distributionOf } from '../distribution';
import { eachLatency, latenciesInOrder, type OfLatencies } from '../latencies';
import type { RequestLog } from '../request-log';
import { sampledLatency, type StatisticIntervals } from './sampled-latency';

/** A latency and the range of another sample of the same load; undefined without measurements. */
export interface MeasuredLatency {
  readonly figures: Distribution;
  readonly sampledUs: StatisticIntervals | undefined;
}

export type MeasuredLatencies = OfLatencies<MeasuredLatency>;

/** @param part  `thinned` of the log */
export function measuredLatencies(log: RequestLog, part: RequestLog): MeasuredLatencies {
  const inOrder = latenciesInOrder(part);
  return eachLatency(log, (lengths, name) => ({
    figures: distributionOf(lengths),
    sampledUs: sampledLatency(inOrder[name], lengths),
  }));
}
