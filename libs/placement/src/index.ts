export { hasQueueRoom, predictTtftUs } from './admission';
export { buildAdmission } from './admission-policy';
export type { AdmissionContext, AdmissionPolicy, AdmissionSpec } from './admission-policy';
export { buildPolicy, POLICY_KINDS, policySpecOf } from './build-policy';
export type { PolicySpec } from './build-policy';
export { ChangesError, checkChanges, formatChanges, parseChanges } from './topology/changes';
export type { ScheduledChange } from './topology/changes';
export { isPrefilledOnDecode } from './disaggregation';
export {
  Guarded,
  NoAnswer,
  originOf,
  PolicyError,
  readOwnModule,
  specName,
  STRICT,
} from './guarded';
export type {
  OwnModule,
  OwnPolicyParts,
  OwnSpec,
  PolicyCall,
  PolicyFault,
  PolicyStage,
  PolicyWatch,
} from './guarded';
export type { OwnPolicySpec } from './own-policy';
export { OwnScheduling, watchedScheduling } from './own-scheduling';
export { Placer, policyName, SHARED_QUEUE } from './placer';
export type { ArrivalChoice, DecodeChoice, PlacerSpec, StagePolicySpec } from './placer';
export { tokenLoad } from './least-loaded';
export type {
  EngineAdapters,
  EngineView,
  LoadMeasure,
  PlacementContext,
  PlacementRequest,
  Policy,
  PoolView,
} from './policy';
export { PoolEstimate } from './pool-estimate';
export { PrefixDirectory } from './prefix-directory';
export { PrefixMemory, promptBlocks } from './prefix-memory';
export type { BlockRange } from './prefix-memory';
export { retryAfterSeconds } from './retry-after';
export { chooseRoute } from './route';
export type { ClusterLoad, RouteChoice, StageLoad } from './route';
export { reported, withTimer } from './timed-policy';
export type { PolicyDecision } from './timed-policy';
export {
  formatTopology,
  MAX_ENGINES,
  parseEngines,
  parseTopology,
  TopologyError,
} from './topology/topology';
export { Room } from './room';
export type { Incoming, RoomFacts } from './room';
export type { EngineRole, Topology } from './topology/topology';
export { estimateTtftUs } from './ttft-estimate';
