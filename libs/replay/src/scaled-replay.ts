import type { ScalingOptions, Slo } from '@baton/analysis';
import { type ClusterScaling, poolOf } from '@baton/simulation';
import {
  autoscalerName,
  type BatonConfig,
  configuredAutoscaler,
  demandOf,
  objectivesOf,
  scaleBounds,
} from '@baton/config';
import { formatTopology, parseTopology, type Topology } from '@baton/policies';
import type { Workload } from '@baton/workload';

export interface ScaledReplay {
  /** The autoscaler that runs. */
  readonly scaling: ClusterScaling;
  /** Engines at the start. Undefined: those of the topology. */
  readonly begin?: string;
  /** The measures of its result. */
  readonly measures: ScalingOptions;
}

/**
 * The autoscaler of a replay, with its measures. Undefined: there is none.
 *
 * @throws UsageError
 */
export function scaledReplay(
  config: BatonConfig,
  workload: Workload,
  slo: Slo | undefined,
): ScaledReplay | undefined {
  const bounds = scaleBounds(config);
  if (bounds === undefined) return undefined;
  const { min, max } = bounds;
  const objectives = objectivesOf(slo);
  const demand = demandOf(config, workload, { max, itlSeconds: objectives.itlSeconds });
  const autoscaler = configuredAutoscaler(config, parseTopology(config.topology), {
    objectives,
    trace: workload,
  })!;
  const ranksPerEngine = config.dataParallelSize;
  const gpus = (role: keyof Topology): number =>
    max[role] > 0 ? ranksPerEngine * poolOf(config, role, ranksPerEngine).gpus : 0;
  const begin = autoscaler.begin && within(autoscaler.begin, { min, max });
  return {
    ...(begin && { begin: formatTopology(begin) }),
    scaling: { create: autoscaler.create, intervalUs: autoscaler.intervalUs, most: max },
    measures: {
      autoscaler: autoscalerName(config),
      min: formatTopology(min),
      max: formatTopology(max),
      fewest: min,
      most: max,
      intervalUs: autoscaler.intervalUs,
      ranksPerEngine,
      gpusPerEngine: {
        prefill: gpus('prefill'),
        decode: gpus('decode'),
        aggregated: gpus('aggregated'),
      },
      demand: { windowUs: demand.windowUs, ofWindow: (window) => demand.ofWindow(window) },
    },
  };
}

function within(counts: Topology, { min, max }: { min: Topology; max: Topology }): Topology {
  const bounded = (role: keyof Topology): number =>
    Math.min(max[role], Math.max(min[role], counts[role]));
  return {
    prefill: bounded('prefill'),
    decode: bounded('decode'),
    aggregated: bounded('aggregated'),
  };
}
