import { usToSeconds } from '@baton/kernel';
import type { EngineRole } from '../placement/topology/topology';
import {
  type ClusterSample,
  type EngineSample,
  enginesIn,
  type RequestTotals,
  type SampleSum,
} from './sample';

export const SCALE_METRICS = ['ttft', 'itl', 'e2el', 'waiting', 'rps', 'running', 'kv'] as const;
export type ScaleMetric = (typeof SCALE_METRICS)[number];

/**
 * The conversion of a metric to a number of replicas, by the types of Kubernetes'
 * HorizontalPodAutoscaler: `object` is one value of the whole cluster against a target (type
 * Object, Value); `total` is shared among the replicas (type External, AverageValue); `engine` has
 * a value per engine (type Pods, AverageValue).
 */
export type MetricKind = 'object' | 'total' | 'engine';

interface MetricFacts {
  readonly kind: MetricKind;
  /** Default target in the unit of the metric. Zero: there is no default. */
  readonly target: number;
}

/**
 * Targets where none is given: `waiting` and `kv` are the saturation thresholds that llm-d's
 * autoscaler ships (queueLengthThreshold 5, kvCacheThreshold 0.8); the latencies are round numbers,
 * to be replaced by the user's objectives.
 */
export const METRIC_FACTS: Readonly<Record<ScaleMetric, MetricFacts>> = {
  ttft: { kind: 'object', target: 1 },
  itl: { kind: 'object', target: 0.05 },
  e2el: { kind: 'object', target: 0 },
  waiting: { kind: 'total', target: 5 },
  rps: { kind: 'total', target: 0 },
  running: { kind: 'engine', target: 0 },
  kv: { kind: 'engine', target: 0.8 },
};

/** Two scrapes: counters are read as the difference. */
export interface ScrapePair {
  readonly sample: ClusterSample;
  readonly previous: ClusterSample | undefined;
}

/**
 * Mean seconds of a histogram's observations between two scrapes. Undefined when there are none.
 */
function meanSeconds(
  { sample, previous }: ScrapePair,
  of: (totals: RequestTotals) => SampleSum,
): number | undefined {
  const now = of(sample.totals);
  const before = previous === undefined ? { sumSeconds: 0, count: 0 } : of(previous.totals);
  const count = now.count - before.count;
  return count > 0 ? (now.sumSeconds - before.sumSeconds) / count : undefined;
}

/**
 * The rate of a counter between two scrapes, per second. Undefined when there is only one scrape.
 */
export function ratePerSecond(
  { sample, previous }: ScrapePair,
  of: (totals: RequestTotals) => number,
): number | undefined {
  if (previous === undefined || previous.atUs === sample.atUs) return undefined;
  const seconds = usToSeconds(sample.atUs - previous.atUs);
  return Math.max(0, of(sample.totals) - of(previous.totals)) / seconds;
}

/**
 * A value of the whole cluster or of one role, latencies in seconds. Undefined when unknown, such
 * as the mean latency of no request.
 */
export function clusterValue(
  metric: Exclude<ScaleMetric, 'running' | 'kv'>,
  role: EngineRole,
  pair: ScrapePair,
): number | undefined {
  switch (metric) {
    case 'waiting':
      return waitingFor(pair.sample, role);
    case 'rps':
      return ratePerSecond(pair, ({ arrived }) => arrived);
    default:
      return meanSeconds(pair, (totals) => totals[metric]);
  }
}

/**
 * Requests outside any batch: those that no engine has taken, and those that wait in an engine.
 */
export function waitingFor(sample: ClusterSample, role: EngineRole): number {
  const inside = enginesIn(sample, role).reduce((sum, { waiting }) => sum + waiting, 0);
  return sample.queued[role] + inside;
}

export function engineValue(metric: 'running' | 'kv', engine: EngineSample): number {
  return metric === 'kv' ? engine.kvUsage : engine.running;
}
