export { Endings } from './driver/endings/endings';
export { FaultPlan } from './driver/endings/fault-plan';
export { type Stages } from './driver/engine.module';
export { FailedFetches } from './driver/handoff/failed-fetches';
export { EXECUTED, Handoff } from './driver/handoff/handoff';
export { type Held, HeldKv } from './driver/handoff/held-kv';
export { attachedKv, handedOverKv, keptKv } from './driver/handoff/kv-source';
export { RouterAnswer } from './driver/handoff/router-answer';
export { type Holder, SourceSide } from './driver/handoff/source-side';
export { TargetSide } from './driver/handoff/target-side';
export { EngineEntry } from './driver/jobs/engine-entry';
export { RunStarter } from './driver/jobs/run-start';
export { DecodeStage, PrefillStage } from './driver/stages';
export { StepFrames } from './driver/steps/step-frames';
export { EngineSlot } from './live-engine/engine/engine-slot';
export { HostOptions, Log } from './live-engine/tokens';
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
export { type Fetching, isRunOver, type Run, RunTable } from './live-engine/runs/run';
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
export { WorkerHosts } from './worker/worker-hosts';
