export { LineFile } from './logs/line-file';
export { createLogger, type Logger, moduleLogger, processLogger } from './logs/logger';
export { BucketCounts } from './metrics/bucket-counts';
export { OVERHEAD_SECONDS, REQUEST_TOKENS, tokensUpTo } from './metrics/buckets';
export { cacheConfigLabels } from './metrics/cache-config';
export { engineLabels } from './metrics/engine-labels';
export { isSimulatedFamily, renderEngineMetrics } from './metrics/engine-metrics';
export { EngineStats } from './metrics/engine-stats';
export {
  type FamilyHead,
  type Labels,
  type MetricSeries,
  renderHistogram,
  renderNumbers,
  renderSummary,
} from './metrics/exposition';
export { acceptedAt, type OptionalKey, type PoolKey } from './metrics/families';
export { countedPart, mergePages } from './metrics/merged-page';
export { UPSTREAM_OUTCOMES, type UpstreamKey, type UpstreamOutcome } from './metrics/metric-family';
export { type PageFamily, type PageSample, parsePage, renderPage } from './metrics/page';
export { contextOfTraceparent, timeOf, traceparentOf } from './tracing/trace-context';
export { startTracing, tracesUrl, type Tracing } from './tracing/tracing';
