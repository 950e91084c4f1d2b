export { LineFile } from './logs/line-file';
export { createLogger, type Logger, moduleLogger, processLogger } from './logs/logger';
export { UPSTREAM_OUTCOMES } from './metrics/baton-families';
export { BucketCounts } from './metrics/bucket-counts';
export { OVERHEAD_SECONDS, tokensUpTo } from './metrics/buckets';
export {
  engineFamilies,
  engineLabels,
  isSimulatedFamily,
  modelLabels,
} from './metrics/engine-metrics';
export {
  EngineStats,
  type OptionalKey,
  type PoolKey,
  type UpstreamKey,
  type UpstreamOutcome,
} from './metrics/engine-stats';
export { parsePage } from './metrics/page';
export {
  exposed,
  familiesOf,
  familyOf,
  hasExemplars,
  histogramSamples,
  type Labels,
  mergedFamilies,
  type MetricFamily,
  type MetricSample,
  readAtScrape,
  readNumber,
  registryWithExemplars,
} from './metrics/registry';
export { acceptedAt } from './metrics/vllm-families';
export { contextOfTraceparent, timeOf, traceparentOf } from './tracing/trace-context';
export { startTracing, tracesUrl, type Tracing } from './tracing/tracing';
