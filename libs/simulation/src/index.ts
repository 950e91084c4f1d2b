export { classOptions } from './flow/class-options';
export { simulate } from './driver';
export { type EngineCache } from './caches/engine-caches';
export { frontEndSummary } from './front-end-summary';
export { stepTimesOf } from './step-times';
export { type RecordedPlacement } from './recorded-placement';
export {
  type ClusterScaling,
  type ClusterScenario,
  type EnginePool,
  enginePool,
  type MembershipChange,
  type RunObserver,
  type ShadowDecision,
  type StepSpan,
} from './scenario';
export { countRanks } from './from-options/count-ranks';
export { mostGpus } from './from-options/membership-changes';
export { poolOf, scenarioOf, type ScenarioExtras } from './from-options/scenario-of';
