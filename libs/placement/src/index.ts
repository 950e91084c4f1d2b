export { hasQueueRoom, missesSlo, predictTtftUs } from './admission';
export { buildPolicy, POLICY_KINDS } from './build-policy';
export type { PolicySpec } from './build-policy';
export { ChangesError, checkChanges, formatChanges, parseChanges } from './changes';
export type { ScheduledChange } from './changes';
export { isPrefilledOnDecode } from './disaggregation';
export { FAULT_KINDS } from './own-policy';
export type { OwnPolicyModule, OwnPolicySpec, PolicyFault, PolicyWatch } from './own-policy';
export { Placer, PolicyError, policyName, SHARED_QUEUE } from './placer';
export type { ArrivalChoice, DecodeChoice, PlacerSpec, StagePolicySpec } from './placer';
export { tokenLoad } from './least-loaded';
export type { EngineView, LoadMeasure, PlacementContext, PlacementRequest, Policy } from './policy';
export { PrefixDirectory } from './prefix-directory';
export { PrefixMemory } from './prefix-memory';
export type { BlockRange } from './prefix-memory';
export { retryAfterSeconds } from './retry-after';
export { chooseRoute } from './route';
export type { ClusterLoad, RouteChoice, StageLoad } from './route';
export {
  formatTopology,
  MAX_ENGINES,
  parseEngines,
  parseTopology,
  TopologyError,
} from './topology';
export type { Topology } from './topology';
export { Room } from './room';
export type { Incoming, RoomFacts } from './room';
export type { EngineRole } from './stage';
export { estimateTtftUs, prefillUs } from './ttft-estimate';
