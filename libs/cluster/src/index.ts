export { classOptions } from './flow/class-options';
export { simulate } from './driver';
export type { EngineCache } from './caches/engine-caches';
export { frontEndSummary } from './front-end-summary';
export { stepTimesOf } from './step-times';
export { rowClasses } from './flow/row-classes';
export type { RowClasses } from './flow/row-classes';
export type { RecordedPlacement } from './recorded-placement';
export type {
  ClusterFlowControl,
  ClusterScaling,
  ClusterScenario,
  EnginePool,
  MembershipChange,
  RunObserver,
  ShadowDecision,
  StepSpan,
} from './scenario';
