export { benchmarkFigures, percentileName } from './benchmark';
export type {
  BenchmarkFigures,
  BenchmarkOptions,
  BenchmarkRecord,
  Delay,
  FailureCount,
  Lateness,
} from './benchmark';
export { comparedLatencies, compareRuns } from './comparison';
export type {
  ComparedLatencies,
  ComparedLatency,
  ComparedRate,
  ComparedRuns,
  Comparison,
  ErrorPercent,
  RecordedRun,
} from './comparison';
export { costSummary } from './costs';
export type { CostRates, CostSummary, GpuCost, GpuRate, GpuWatts, Served } from './costs';
export { cumulativeShare, cumulativeShareOfGaps } from './cumulative-share';
export type { CumulativeShare } from './cumulative-share';
export { distributionOf, distributionOfGaps } from './distribution';
export type { Distribution } from './distribution';
export type { EngineSummary } from './engine-summary';
export { EXACT_MODEL } from './intervals/figure-intervals';
export type {
  DistributionIntervals,
  FigureIntervals,
  ModelErrors,
} from './intervals/figure-intervals';
export { INTERVAL_LEVEL, NO_ERROR, widened } from './intervals/interval';
export type { ErrorFactors, Interval } from './intervals/interval';
export { IntervalHistogram, type PlainHistogram } from './interval-histogram';
export type { KvPoolRecord, KvPoolSummary } from './kv-pool-summary';
export { latenciesOf, tpotOf } from './latencies';
export type { Latencies } from './latencies';
export { overTime } from './over-time';
export type { OverTime, OverTimeOptions } from './over-time';
export { ENGINE_PHASES, meanPhases, phasesOf, REQUEST_PHASES, readPhases } from './phases';
export type { EnginePhase, RequestPhase, OfPhases, PhaseSpans } from './phases';
export { NEVER, OUTCOMES, outcomeCode, RequestLog, ttftUs } from './request-log';
export type { FrontEndColumns, Outcome } from './request-log';
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
export { attainmentOf, formatSlo, sloTest, OBJECTIVES, parseSlo, SloError } from './slo';
export type { Attainment, Objective, Slo } from './slo';
export { summarise } from './summary';
export type { StepTimesSummary } from './step-times';
export { areTooLate, LATE_MS } from './too-late';
export type { FrontEndSummary, Summary, SummaryOptions } from './summary';
