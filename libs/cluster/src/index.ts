export { simulate } from './driver';
export type {
  ClusterScenario,
  EnginePool,
  MembershipChange,
  RunObserver,
  StepSpan,
} from './scenario';
