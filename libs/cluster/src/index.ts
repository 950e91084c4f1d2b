export { simulate } from './driver';
export { frontEndSummary } from './front-end-summary';
export { stepTimesOf } from './step-times';
export type { RecordedPlacement } from './recorded-placement';
export type {
  ClusterScaling,
  ClusterScenario,
  EnginePool,
  MembershipChange,
  RunObserver,
  ShadowDecision,
  StepSpan,
} from './scenario';
