export {
  benchmarkFigures,
  percentileName,
  type BenchmarkFigures,
  type BenchmarkOptions,
  type BenchmarkRecord,
  type Delay,
  type FailureCount,
  type Lateness,
} from './benchmark';
export {
  comparedLatencies,
  compareRuns,
  type ComparedLatencies,
  type ComparedLatency,
  type ComparedRate,
  type ComparedRuns,
  type Comparison,
  type ErrorPercent,
  type RecordedRun,
} from './comparison';
export {
  costSummary,
  type CostRates,
  type CostSummary,
  type GpuCost,
  type GpuRate,
  type GpuWatts,
  type Served,
} from './costs';
export { cumulativeShare, cumulativeShareOfGaps, type CumulativeShare } from './cumulative-share';
export { distributionOf, distributionOfGaps, type Distribution } from './distribution';
export type { EngineSummary } from './engine-summary';
export {
  EXACT_MODEL,
  type DistributionIntervals,
  type FigureIntervals,
  type ModelErrors,
} from './intervals/figure-intervals';
export {
  INTERVAL_LEVEL,
  NO_ERROR,
  widened,
  type ErrorFactors,
  type Interval,
} from './intervals/interval';
export { IntervalHistogram, type PlainHistogram } from './interval-histogram';
export type { KvPoolRecord, KvPoolSummary } from './kv-pool-summary';
export { latenciesOf, tpotOf, type Latencies } from './latencies';
export { overTime, type OverTime, type OverTimeOptions } from './over-time';
export {
  ENGINE_PHASES,
  meanPhases,
  phasesOf,
  REQUEST_PHASES,
  readPhases,
  type EnginePhase,
  type RequestPhase,
  type OfPhases,
  type PhaseSpans,
} from './phases';
export {
  NEVER,
  OUTCOMES,
  outcomeCode,
  RequestLog,
  ttftUs,
  type FrontEndColumns,
  type Outcome,
} from './request-log';
export { roundTo } from './round-to';
export type { RoleScaling, ScalingOptions, ScalingSummary } from './scaling';
export type {
  LifeEvent,
  LifeState,
  ScaleEvent,
  ScalingRecord,
  StartupRecord,
} from './scaling-record';
export type { StartupSummary } from './startups';
export type { EngineRecord, EngineRoleName, RunRecord, SeriesRecord } from './run-record';
export type { ClassObjectives, ClassOptions, ClassSummary } from './slo-classes';
export {
  attainmentOf,
  formatSlo,
  sloTest,
  OBJECTIVES,
  parseSlo,
  SloError,
  type Attainment,
  type Objective,
  type Slo,
} from './slo';
export { summarise, type FrontEndSummary, type Summary, type SummaryOptions } from './summary';
export type { StepTimesSummary } from './step-times';
export { areTooLate, LATE_MS } from './too-late';
