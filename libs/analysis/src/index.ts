export {
  benchmarkFigures,
  percentileName,
  type BenchmarkFigures,
  type BenchmarkRecord,
  type Delay,
  type FailureCount,
  type Lateness,
  type LateFigureName,
} from './benchmark';
export {
  comparedLatencies,
  compareRuns,
  type ComparedLatencies,
  type ComparedRate,
  type ComparedRuns,
  type Comparison,
  type RecordedRun,
} from './comparison';
export {
  costSummary,
  type CostRates,
  type CostSummary,
  type GpuRate,
  type GpuWatts,
} from './costs';
export { cumulativeShare, type CumulativeShare } from './cumulative-share';
export { distributionOf, type Distribution } from './distribution';
export { type EngineSummary, tokensPerStep } from './engine-summary';
export {
  EXACT_MODEL,
  type DistributionIntervals,
  type FigureIntervals,
  type ModelErrors,
} from './intervals/figure-intervals';
export { standardErrors } from './intervals/blocks';
export {
  INTERVAL_LEVEL,
  NO_ERROR,
  widened,
  type ErrorFactors,
  type Interval,
} from './intervals/interval';
export { Instants, NEVER } from './instants';
export { IntervalHistogram, type PlainHistogram } from './interval-histogram';
export type { KvPoolRecord } from './kv-pool-summary';
export { eachLatency, latenciesOf, tpotOf, type Latencies } from './latencies';
export { overTime } from './over-time';
export {
  ENGINE_PHASES,
  meanPhases,
  phasesOf,
  REQUEST_PHASES,
  readPhases,
  type EnginePhase,
  type RequestPhase,
} from './phases';
export {
  OUTCOMES,
  outcomeCode,
  RequestLog,
  ttftUs,
  type FrontEndColumns,
  type Outcome,
} from './request-log';
export { roundTo } from './round-to';
export type { RoleScaling, ScalingOptions } from './scaling';
export type {
  LifeEvent,
  LifeState,
  ScaleEvent,
  ScalingRecord,
  StartupRecord,
} from './scaling-record';
export type { StartupSummary } from './startups';
export type { EngineRecord, EngineRoleName, RunRecord, SeriesRecord } from './run-record';
export type { ClassOptions, ClassSummary } from './slo-classes';
export {
  attainmentOf,
  formatSlo,
  sloTest,
  OBJECTIVES,
  parseSlo,
  SloError,
  type Objective,
  type Slo,
} from './slo';
export type { ByteStore } from './spill';
export { summarise, type FrontEndSummary, type Summary } from './summary';
export type { OutsideStep, StepTimesSummary } from './step-times';
export { areTooLate, LATE_MS } from './too-late';
