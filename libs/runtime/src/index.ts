export * from './broker/broker';
export * from './broker/resolve-broker';
export * from './config/child-config';
export * from './config/config';
export * from './config/config-schema';
export * from './config/configuration-page';
export * from './config/names';
export type { Option, OptionValue, ValueForm } from './config/option';
export { recordableConfig } from './config/recorded-values';
export * from './config/resolve-config';
export * from './config/transport-times';
export * from './config/usage-error';
export * from './config/version';
export * from './files/make-folder';
export * from './logs/line-file';
export * from './logs/logger';
export * from './clock/live-clock';
export * from './clock/loop-lag';
export * from './clock/wall-clock';
export * from './membership/change-schedule';
export * from './membership/configured-changes';
export * from './membership/member-engine';
export * from './membership/membership';
export * from './metrics/bucket-counts';
export * from './metrics/buckets';
export * from './metrics/cache-config';
export * from './metrics/engine-labels';
export * from './metrics/engine-metrics';
export * from './metrics/engine-stats';
export * from './metrics/fake-metrics';
export * from './metrics/families';
export { withUpstreamMetrics } from './metrics/upstream-metrics';
export * from './engine-factory';
export * from './extrapolation';
export * from './lora-modules';
export * from './health/worker-probe';
export * from './health/worker.module';
export * from './settings/changeable';
export * from './settings/fault-settings';
export * from './settings/live-settings';
export * from './step-time-spec';
export * from './worker/run-worker';
export * from './worker/worker-hosts';
export * from './placement-spec';
export * from './placement/job-routing';
export * from './tls/certificate';
export { checkLlamacpp } from './llamacpp/local-server';
export {
  checkUpstreams,
  executes,
  executesAny,
  executorOf,
  withUpstreams,
} from './upstream/executing';
export { timeOf } from './tracing/run-spans';
export * from './tracing/trace-context';
export * from './tracing/tracing';
export { buildRouting, needsLoads } from './placement/policy-routing';
