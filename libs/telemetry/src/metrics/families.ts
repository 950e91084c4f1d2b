import { BATON_FAMILIES } from './baton-families';
import type { MetricFamily } from './metric-family';
import { VLLM_FAMILIES } from './vllm-families';

export {
  acceptedAt,
  COUNTER_KEYS,
  HISTOGRAM_KEYS,
  type CounterFamily,
  type CounterKey,
  type GaugeFamily,
  type HistogramFamily,
  type HistogramKey,
  type MetricFamily,
  type OptionalKey,
  type PoolKey,
  type SeriesLabels,
} from './metric-family';

/**
 * Every metric of an engine, once. A worker's own `/metrics` and the cluster-wide one of the API
 * are both rendered from this table.
 */
export const ENGINE_METRICS: readonly MetricFamily[] = [...VLLM_FAMILIES, ...BATON_FAMILIES];
