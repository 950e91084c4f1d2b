export { ratesOf } from './costs/rates-of';
export { readGpuPrices, type GivenRate, type GivenRates } from './costs/read-gpu-prices';
export { FarmPool, openFarm } from './host/farm-pool';
export { startPlanner, type Planner } from './host/planner';
export { AS_CONFIGURED, concerns, type Assumption } from './candidates/assumption';
export {
  candidatesOf,
  isAggregated,
  candidateName,
  type Candidate,
  type Choices,
} from './candidates/candidates';
export { findRate, GIVEN_UP_SHARE, type FoundRate, type RateSearch } from './candidates/find-rate';
export { NothingKept } from './candidates/nearest-miss';
export { paretoFront, type Costs } from './candidates/pareto';
export {
  performTask,
  TOLERANCE,
  type PlanFigures,
  type PlanTask,
  type TaskOptions,
  type TaskResult,
} from './candidates/plan-task';
export { promising, type Estimated } from './candidates/promising';
export {
  aggregatedRate,
  DECODE_SHARE,
  decodeRate,
  matchRates,
  PREFILL_SHARE,
  prefillRate,
  type Demand,
  type Engines,
} from './candidates/rate-match';
export {
  searchSplits,
  type PlanCandidate,
  type PlanQuestion,
  type PlanStage,
  type RunTasks,
} from './candidates/search-splits';
export {
  goodputOf,
  preferred,
  refusedBy,
  type Contenders,
  type FrontierPoint,
  type PlanResult,
  type Preferred,
  type SensitivityRow,
  type SplitResult,
} from './candidates/split-result';
export {
  seededStart,
  successiveHalving,
  type HalvingPlan,
  type HalvingRung,
  type TriedCandidate,
  type Ranking,
} from './candidates/successive-halving';
export { apartFactor, goodputInterval, isToldApart } from './candidates/told-apart';
export { atRate, missesAllowed, runWithin, type SloTarget } from './candidates/trial';
export { caveats } from './document/caveats';
export { planConsole } from './document/plan-console';
export { planCsv } from './document/plan-csv';
export { planDocument, type PlanDocument, type SplitDocument } from './document/plan-document';
export { planReport } from './document/plan-report';
export { type GivenSizes } from './engines/engine-choices';
export { fleetsConsole } from './fleet/fleet-console';
export { fleetsDocument, type FleetsDocument } from './fleet/fleet-document';
export { fleetsCsv, fleetsReport } from './fleet/fleet-report';
export { overridesOf } from './fleet/fleet';
export { prepareFleets, type FleetRequest, type PreparedFleets } from './fleet/prepare-fleets';
export { localPool, searchFleets, type FleetResult } from './fleet/search-fleets';
export { configOf } from './engines/split-config';
export { preparePlan, type PlanRequest, type PreparedPlan } from './prepare-plan';
export { filesNamedIn, sumsOf, type FileSums } from './files/named-files';
export { searchPlan, type SearchOptions } from './host/search-plan';
export type { Watch } from './search/watch';
export { type PoolTask } from './search/perform-any';
export { type PlanningContext } from './search/planning-context';
export { openThreads, type TaskPool } from './host/task-pool';
