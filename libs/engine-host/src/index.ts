export { checkLlamacpp } from './executors/llamacpp/local-server';
export { askEngines } from './executors/metrics/engine-reports';
export { withUpstreamFamilies } from './executors/metrics/upstream-families';
export {
  checkUpstreams,
  executes,
  executesAny,
  executorOf,
  withUpstreams,
} from './executors/server/executing';
export { type RankOptions } from './live-engine/engine/engine-identity';
export { StepBarrier } from './live-engine/engine/step-barrier';
export { type KvEventPublisher } from './live-engine/observers/kv-event';
export { Frames } from './live-engine/runs/frames';
export { type Fetching, type Run } from './live-engine/runs/run';
export {
  engineQueue,
  entryQueue,
  type JobRouting,
  type PromptFacts,
  sharedQueue,
} from './routing/job-routing';
export { type PolicyDecisionCount, PolicyDecisionBook } from './routing/policy-decisions';
export { faultReporter, PolicyFaultBook } from './routing/policy-faults';
export { buildRouting, needsLoads } from './routing/policy-routing';
export { carryOut, type EngineChange } from './worker/membership/carry-out';
export { ChangeSchedule } from './worker/membership/change-schedule';
export { configuredChanges } from './worker/membership/configured-changes';
export { memberLoad, type MemberEngine } from './worker/membership/member-engine';
export { type EngineStarter, LiveMembership } from './worker/membership/membership';
export { releaseProcess } from './worker/membership/release-process';
export { WallPace } from './worker/membership/wall-pace';
export { runWorker } from './worker/run-worker';
export { type WorkerDependencies } from './worker/engines.module';
export { WorkerHosts } from './worker/worker-hosts';
export { WorkerModule } from './worker/worker.module';
