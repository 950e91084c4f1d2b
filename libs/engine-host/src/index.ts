export { Endings } from './run/endings/endings';
export { FaultPlan } from './run/engine/fault-plan';
export { type Stages } from './engine.module';
export { FailedFetches } from './decode/failed-fetches';
export { EXECUTED, Handoff } from './prefill/handoff';
export { type Held, HeldKv } from './prefill/held-kv';
export { attachedKv, handedOverKv, keptKv } from './decode/kv-source';
export { RouterAnswer } from './prefill/router-answer';
export { type Holder, SourceSide } from './prefill/source-side';
export { TargetSide } from './decode/target-side';
export { EngineEntry } from './run/jobs/engine-entry';
export { RunStarter } from './run/jobs/run-starter';
export { DecodeStage, PrefillStage } from './run/stages';
export { StepFrames } from './run/steps/step-frames';
export { EngineSlot } from './run/engine/engine-slot';
export { HostOptions, Log } from './run/tokens';
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
export { type RankOptions } from './run/engine/engine-identity';
export { StepBarrier } from './run/engine/step-barrier';
export { type KvEventPublisher } from './run/observers/kv-event';
export { Frames } from './run/runs/frames';
export { type Fetching, isRunOver, type Run, RunTable } from './run/runs/run';
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
export { memberLoad, type MemberEngine } from './worker/membership/member-engine';
export { type EngineStarter, LiveMembership } from './worker/membership/membership';
export { releaseProcess } from './worker/membership/release-process';
export { WallPace } from './worker/membership/wall-pace';
export { runWorker } from './worker/run-worker';
export { WorkerHosts } from './worker/worker-hosts';
