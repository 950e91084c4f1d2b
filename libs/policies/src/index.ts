export {
  Autoscaler,
  changesTo,
  MOST_DELAY_INTERVALS,
  type AutoscalerOptions,
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
export {
  type ScaleBounds,
  type ScaleContext,
  type ScaleDecision,
  type ScalePolicy,
} from './autoscaling/policy';
export {
  engineOfRanks,
  ROLES,
  type ClusterSample,
  type EngineSample,
  type RankSample,
  type RequestTotals,
  type SampleSum,
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
export { ONLY_CLASS, SloClasses, type ClassSigns, type SloClass } from './flow-control/slo-class';
export { hasQueueRoom, predictTtftUs } from './placement/admission';
export {
  buildAdmission,
  type AdmissionContext,
  type AdmissionPolicy,
  type AdmissionSpec,
} from './placement/admission-policy';
export { buildPolicy, POLICY_KINDS, policySpecOf, type PolicySpec } from './placement/build-policy';
export {
  ChangesError,
  checkChanges,
  formatChanges,
  parseChanges,
  type ScheduledChange,
} from './placement/topology/changes';
export { isPrefilledOnDecode } from './placement/disaggregation';
export {
  Guarded,
  NoAnswer,
  originOf,
  PolicyError,
  readOwnModule,
  specName,
  STRICT,
  type OwnModule,
  type OwnPolicyParts,
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
  type DecodeChoice,
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
  type PoolView,
} from './placement/policy';
export { PoolEstimate } from './placement/pool-estimate';
export { PrefixDirectory } from './placement/prefix-directory';
export { PrefixMemory, promptBlocks, type BlockRange } from './placement/prefix-memory';
export { retryAfterSeconds } from './placement/retry-after';
export { chooseRoute, type ClusterLoad, type RouteChoice, type StageLoad } from './placement/route';
export { reported, withTimer, type PolicyDecision } from './placement/timed-policy';
export {
  formatTopology,
  MAX_ENGINES,
  parseEngines,
  parseTopology,
  TopologyError,
  type EngineRole,
  type Topology,
} from './placement/topology/topology';
export { Room, type Incoming, type RoomFacts } from './placement/room';
export { estimateTtftUs } from './placement/ttft-estimate';
export { liveWatch, runBounded } from './host/policy-calls';
