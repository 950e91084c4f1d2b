import { UsageError } from '@baton/config';
import { parseTopology, TopologyError } from '@baton/policies';
import type { Counters } from './counters';

export type EngineCounts = Readonly<Record<'prefill' | 'decode' | 'aggregated', number>>;

/** The topology of a server without stages: one engine computes prompts and answers. */
const ONE_ENGINE = '1A';

/** The topology by the user, else by the cluster's metrics. */
export function topologyOf(given: string | undefined, counters: Counters | undefined): string {
  if (given !== undefined) return given;
  const engines = counters?.engines;
  if (engines === undefined) return ONE_ENGINE;
  const { prefill, decode, aggregated } = engines;
  const parts = [
    ...(prefill > 0 ? [`${prefill}P`] : []),
    ...(decode > 0 ? [`${decode}D`] : []),
    ...(aggregated > 0 ? [`${aggregated}A`] : []),
  ];
  return parts.length === 0 ? ONE_ENGINE : parts.join('');
}

/** @throws UsageError, one sentence */
export function engineCounts(topology: string): EngineCounts {
  try {
    return parseTopology(topology);
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}
