export { drawArrivals } from './arrivals';
export type { ArrivalLimits, ArrivalSpec } from './arrivals';
export { withContentBlock } from './content-block';
export { contentNameOf, contentsNamed } from './named/content-names';
export { describeWorkload, mostAtOneInstant } from './describe-workload';
export type { LengthSummary, WorkloadDescription } from './describe-workload';
export { budgetWorkload } from './generate/budget-workload';
export type { BudgetOptions } from './generate/budget-workload';
export { workloadStream } from './generate/draw-lengths';
export { generateMultiTurn } from './generate/multi-turn';
export type { MultiTurnSpec } from './generate/multi-turn';
export type { Popularity } from './generate/popularity';
export { generateSingleTurn } from './generate/single-turn';
export type { SharedPrefixes, SingleTurnSpec } from './generate/single-turn';
export { buildLengthModel } from './length-model';
export type { Bounds, LengthBucket, LengthModel, LengthSpec } from './length-model';
export { mergeWorkloads } from './merge';
export { fromZero, scaleRate, spreadStamps, withArrivals } from './retime';
export type { SpreadOptions } from './retime';
export { withAdapterContents } from './named/adapter-contents';
export { withMix } from './named/mix';
export type { MixedColumn, Share } from './named/mix';
export { rowName } from './named/named-column';
export type { NamedColumn } from './named/named-column';
export { PromptContents } from './prompt-contents';
export { head, pick, within } from './rows';
export { shareWorkload } from './share';
export { traceLine, traceLines } from './trace/baton-trace';
export type { TraceRow } from './trace/baton-trace';
export { detectTraceFormat, openAnyTrace, openTrace, readTrace } from './trace/open-trace';
export {
  isRecordingHeader,
  parseMeasured,
  parseRecordingHeader,
  RECORDED_OUTCOMES,
  recordingHeaderLine,
} from './trace/recording';
export type {
  MeasuredRequest,
  MeasuredLine,
  RecordedInstants,
  RecordedOutcome,
  RecordingHeader,
} from './trace/recording';
export { isRouterLine, parseRouterLine } from './trace/router-log';
export { TRACE_FORMATS, TraceError } from './trace/trace-reader';
export type {
  Trace,
  TraceFormat,
  TraceOptions,
  TraceReader,
  TraceReport,
} from './trace/trace-reader';
export { firstCount, isFirst, meanRatePerSecond, requestIdOf, WorkloadError } from './workload';
export type { Workload } from './workload';
export { WorkloadBuilder } from './workload-builder';
export type { Row, WorkloadBuilderOptions } from './workload-builder';
