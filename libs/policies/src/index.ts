export {
  Autoscaler,
  MOST_DELAY_INTERVALS,
  type ScaleChange,
} from './autoscaling/driver/autoscaler';
export { AutoscalerError, checkStart, parseBounds } from './autoscaling/driver/bounds';
export { type Capacities, EngineCapacity } from './autoscaling/policies/capacity';
export { demandCurve } from './autoscaling/policies/demand';
export { foresight, type ForesightOptions } from './autoscaling/policies/foresight';
export {
  KEEP,
  OwnScaler,
  type OwnScaleContext,
  type OwnScalePolicy,
} from './autoscaling/policies/own-scaler';
export { type TraceColumns, WindowCounts } from './autoscaling/policies/window-counts';
export { type ScaleBounds, type ScalePolicy } from './autoscaling/policy';
export {
  engineOfRanks,
  ROLES,
  type ClusterSample,
  type EngineSample,
  type RankSample,
  type RequestTotals,
} from './autoscaling/sample';
export { buildAutoscaler } from './autoscaling/written/build-autoscaler';
export { parseAutoscaler, writtenInterval } from './autoscaling/written/parse-autoscaler';
export { type AutoscalerSpec, type Objectives } from './autoscaling/written/spec';
export { buildFlowPolicy, type FlowPolicySpec } from './flow-control/build-policy';
export { FLOW_POLICY_KINDS } from './flow-control/built-in';
export {
  FlowControl,
  type DropReason,
  type FlowLimits,
  type Ticket,
} from './flow-control/flow-control';
export {
  type FlowContext,
  type FlowPolicy,
  type FlowQueue,
  type Service,
} from './flow-control/policy';
export { ONLY_CLASS, SloClasses, type SloClass } from './flow-control/slo-class';
export { hasQueueRoom, predictTtftUs } from './placement/admission';
export {
  buildAdmission,
  type AdmissionContext,
  type AdmissionPolicy,
  type AdmissionSpec,
} from './placement/admission-policy';
export { buildPolicy, POLICY_KINDS, policySpecOf } from './placement/build-policy';
export {
  ChangesError,
  checkChanges,
  formatChanges,
  parseChanges,
  type ScheduledChange,
} from './placement/topology/changes';
export {
  PolicyError,
  readOwnModule,
  STRICT,
  type OwnSpec,
  type PolicyCall,
  type PolicyFault,
  type PolicyStage,
  type PolicyWatch,
} from './placement/guarded';
export { type OwnPolicySpec } from './placement/own-policy';
export { OwnScheduling, watchedScheduling } from './placement/own-scheduling';
export {
  Placer,
  policyName,
  SHARED_QUEUE,
  type ArrivalChoice,
  type PlacerSpec,
  type StagePolicySpec,
} from './placement/placer';
export { tokenLoad } from './placement/least-loaded';
export {
  type EngineAdapters,
  type EngineView,
  type LoadMeasure,
  type PlacementContext,
  type PlacementRequest,
  type Policy,
} from './placement/policy';
export { PoolEstimate } from './placement/pool-estimate';
export { PrefixDirectory } from './placement/prefix-directory';
export { PrefixMemory, promptBlocks } from './placement/prefix-memory';
export { retryAfterSeconds } from './placement/retry-after';
export { chooseRoute, type StageLoad } from './placement/route';
export { withTimer, type PolicyDecision } from './placement/timed-policy';
export {
  formatTopology,
  MAX_ENGINES,
  parseEngines,
  parseTopology,
  TopologyError,
  type EngineRole,
  type Topology,
} from './placement/topology/topology';
export { Room, type Incoming } from './placement/room';
export { estimateTtftUs } from './placement/ttft-estimate';
export { liveWatch, runBounded } from './host/policy-calls';
