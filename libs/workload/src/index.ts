export { drawArrivals, type ArrivalSpec } from './arrivals';
export { withContentBlock } from './content-block';
export { contentNameOf, contentsNamed } from './named/content-names';
export { describeWorkload, mostAtOneInstant, type WorkloadDescription } from './describe-workload';
export { budgetWorkload } from './generate/budget-workload';
export { workloadStream } from './generate/draw-lengths';
export { generateMultiTurn } from './generate/multi-turn';
export { generateSingleTurn, type SharedPrefixes } from './generate/single-turn';
export {
  buildLengthModel,
  type Bounds,
  type LengthBucket,
  type LengthModel,
  type LengthSpec,
} from './length-model';
export { fromZero, scaleRate, spreadStamps, withArrivals } from './retime';
export { withAdapterContents } from './named/adapter-contents';
export { withMix, type Share } from './named/mix';
export { rowName, type NamedColumn } from './named/named-column';
export { type Piece, pieceOf, WHOLE } from './piece';
export { PromptContents } from './prompt-contents';
export { head, pick, within } from './rows';
export { type LengthScale, scaleLengths } from './scale-lengths';
export { shareWorkload } from './share';
export { withSharedPrefix } from './shared-prefix';
export { traceLine, type TraceRow } from './trace/baton-trace';
export { openAnyTrace, openTrace, readTrace } from './trace/open-trace';
export {
  isRecordingHeader,
  parseMeasured,
  parseRecordingHeader,
  recordingHeaderLine,
  type MeasuredRequest,
  type MeasuredLine,
  type RecordedOutcome,
  type RecordingHeader,
} from './trace/recording';
export { isRouterLine, parseRouterLine } from './trace/router-log';
export {
  TRACE_FORMATS,
  TraceError,
  type Trace,
  type TraceFormat,
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
export { WorkloadBuilder, type Row } from './workload-builder';
