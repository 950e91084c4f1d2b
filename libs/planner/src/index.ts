export { AS_CONFIGURED, concerns } from './assumption';
export type { Assumption } from './assumption';
export { candidatesOf, isAggregated, candidateName } from './candidates';
export type { Candidate, Choices } from './candidates';
export { findRate, GIVEN_UP_SHARE } from './find-rate';
export type { FoundRate, RateSearch } from './find-rate';
export { NothingKept } from './nearest-miss';
export { paretoFront } from './pareto';
export type { Costs } from './pareto';
export { performTask, TOLERANCE } from './plan-task';
export type { PlanFigures, PlanTask, TaskOptions, TaskResult } from './plan-task';
export { promising } from './promising';
export type { Estimated } from './promising';
export {
  aggregatedRate,
  DECODE_SHARE,
  decodeRate,
  matchRates,
  PREFILL_SHARE,
  prefillRate,
} from './rate-match';
export type { Demand, Engines } from './rate-match';
export { searchSplits } from './search-splits';
export type { PlanCandidate, PlanQuestion, PlanStage, RunTasks } from './search-splits';
export { goodputOf, preferred, refusedBy } from './split-result';
export type {
  Contenders,
  FrontierPoint,
  PlanResult,
  Preferred,
  SensitivityRow,
  SplitResult,
} from './split-result';
export { seededStart, successiveHalving } from './successive-halving';
export type { HalvingPlan, HalvingRung, TriedCandidate, Ranking } from './successive-halving';
export { apartFactor, goodputInterval, isToldApart } from './told-apart';
export { atRate, missesAllowed, runWithin } from './trial';
export type { SloTarget } from './trial';
