export { IntervalHistogram } from './interval-histogram';
export { NEVER, OUTCOMES, outcomeCode, RequestLog, ttftUs } from './request-log';
export type { Outcome } from './request-log';
export type { EngineRecord, EngineRoleName, RunRecord, SeriesRecord } from './run-record';
