import type { Slo } from '@baton/analysis';
import type { ClusterScaling } from '@baton/simulation';
import { type BatonConfig, configuredAutoscaler, objectivesOf } from '@baton/config';
import { parseTopology } from '@baton/policies';

/** The value of the dimension `autoscaler` for fleets whose engines stay. */
const UNSCALED = 'none';

/** The autoscaler that a combination of options names. Undefined: the engines stay. */
export function autoscalerIn({ autoscaler }: Partial<BatonConfig>): string | undefined {
  return autoscaler === UNSCALED ? undefined : autoscaler;
}

/**
 * The autoscaler of a fleet's configuration, for runs of it.
 *
 * @throws UsageError, one sentence
 */
export function scalingOf(config: BatonConfig, slo: Slo): ClusterScaling {
  const own = { ...config, min: undefined, scalePolicy: undefined };
  const objectives = objectivesOf(slo);
  const start = parseTopology(config.topology);
  const { create, intervalUs, bounds } = configuredAutoscaler(own, start, { objectives })!;
  return { create, intervalUs, most: bounds.max };
}
