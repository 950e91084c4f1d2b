export { drawArrivals, type ArrivalLimits, type ArrivalSpec } from './arrivals';
export { withContentBlock } from './content-block';
export { contentNameOf, contentsNamed } from './named/content-names';
export {
  describeWorkload,
  mostAtOneInstant,
  type LengthSummary,
  type WorkloadDescription,
} from './describe-workload';
export { budgetWorkload, type BudgetOptions } from './generate/budget-workload';
export { workloadStream } from './generate/draw-lengths';
export { generateMultiTurn, type MultiTurnSpec } from './generate/multi-turn';
export type { Popularity } from './generate/popularity';
export {
  generateSingleTurn,
  type SharedPrefixes,
  type SingleTurnSpec,
} from './generate/single-turn';
export {
  buildLengthModel,
  type Bounds,
  type LengthBucket,
  type LengthModel,
  type LengthSpec,
} from './length-model';
export { mergeWorkloads } from './merge';
export { fromZero, scaleRate, spreadStamps, withArrivals, type SpreadOptions } from './retime';
export { withAdapterContents } from './named/adapter-contents';
export { withMix, type MixedColumn, type Share } from './named/mix';
export { rowName, type NamedColumn } from './named/named-column';
export { PromptContents } from './prompt-contents';
export { head, pick, within } from './rows';
export { shareWorkload } from './share';
export { traceLine, traceLines, type TraceRow } from './trace/baton-trace';
export { detectTraceFormat, openAnyTrace, openTrace, readTrace } from './trace/open-trace';
export {
  isRecordingHeader,
  parseMeasured,
  parseRecordingHeader,
  RECORDED_OUTCOMES,
  recordingHeaderLine,
  type MeasuredRequest,
  type MeasuredLine,
  type RecordedInstants,
  type RecordedOutcome,
  type RecordingHeader,
} from './trace/recording';
export { isRouterLine, parseRouterLine } from './trace/router-log';
export {
  TRACE_FORMATS,
  TraceError,
  type Trace,
  type TraceFormat,
  type TraceOptions,
  type TraceReader,
  type TraceReport,
} from './trace/trace-reader';
export {
  firstCount,
  isFirst,
  meanRatePerSecond,
  requestIdOf,
  WorkloadError,
  type Workload,
} from './workload';
export { WorkloadBuilder, type Row, type WorkloadBuilderOptions } from './workload-builder';
