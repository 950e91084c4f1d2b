export { simulate } from './driver';
export type { RecordedPlacement } from './recorded-placement';
export type {
  ClusterScenario,
  EnginePool,
  MembershipChange,
  RunObserver,
  StepSpan,
} from './scenario';
