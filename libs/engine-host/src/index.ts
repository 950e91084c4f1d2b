export { EXECUTED, Handoff, type HeldPrompt } from './driver/handoff/handoff';
export { EngineHost, type HostOptions } from './driver/host/engine-host';
export {
  type Executor,
  type ExecutorNumbers,
  type ExecutorParts,
  type ExecutorSite,
} from './driver/jobs/executor';
export { UNLIMITED } from './driver/handoff/source-side';
export { checkLlamacpp } from './executors/llamacpp/local-server';
export { LocalServers } from './executors/llamacpp/local-servers';
export { withUpstreamMetrics } from './executors/metrics/upstream-metrics';
export { executedBy } from './executors/upstream/executed-by';
export {
  checkUpstreams,
  executes,
  executesAny,
  executorOf,
  type ServerAddress,
  upstreamAt,
  withUpstreams,
} from './executors/server/executing';
export { EngineIdentity, type RankOptions } from './live-engine/engine/engine-identity';
export { EngineSlot, WakeUp } from './live-engine/engine/engine-slot';
export { Mailbox, type MailReaders } from './live-engine/engine/mailbox';
export { StepBarrier } from './live-engine/engine/step-barrier';
export { type StepListener, StepLoop } from './live-engine/engine/step-loop';
export { type KvEvent, type KvEventPublisher } from './live-engine/observers/kv-event';
export { KvEvents } from './live-engine/observers/kv-events';
export { endpointOf, publishers } from './live-engine/observers/load-publisher';
export { type RunOutcome, RunSpans } from './live-engine/observers/run-spans';
export { StepLog } from './live-engine/observers/step-log';
export { TimelineFacts } from './live-engine/observers/timeline-facts';
export { PoolNode, type PoolNodeParts } from './live-engine/pool/pool-node';
export { type FrameOutbox, Frames } from './live-engine/runs/frames';
export { KeptPayloads } from './live-engine/runs/kept-payloads';
export { type Fetching, IncomingRuns, isRunOver, type Run, RunTable } from './live-engine/runs/run';
export {
  engineQueue,
  entryQueue,
  type JobRouting,
  type PromptFacts,
  type RoutedJob,
  routedTo,
  sharedQueue,
  SharedQueues,
} from './routing/job-routing';
export { type PolicyDecisionCount, PolicyDecisionBook } from './routing/policy-decisions';
export { faultReporter, type PolicyFaultCount, PolicyFaultBook } from './routing/policy-faults';
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
