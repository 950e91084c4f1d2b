export { benchmarkReport, type BenchmarkReport } from './bench/benchmark-report';
export { consoleBenchmark, lateFiguresText } from './bench/console-benchmark';
export { consoleTable, type ConsoleColumn } from './console-table';
export { CONSOLE_WIDTH, wrapWords } from './console-width';
export {
  formatBytes,
  formatMs,
  formatMsInterval,
  formatNumber,
  formatSeconds,
  formatShare,
  formatShareWithInterval,
  formatWithInterval,
} from './format-number';
export { foldExcept } from './fold';
export { htmlReport } from './html/page';
export { chartSvg } from './html/svg';
export { chromeTrace, TRACED_REQUESTS, type TracedSteps } from './run/chrome-trace';
export type { ComparisonReport } from './run/comparison-sections';
export { consoleComparison } from './run/console-comparison';
export { classSections, classTable } from './run/class-table';
export { consoleSummary, frontEndLine } from './run/console-summary';
export { stepTimesLines } from './run/step-times';
export { usd } from './run/cost-sections';
export { requestCsv } from './run/request-csv';
export { runReport } from './run/run-report';
export { settingsSections } from './settings-sections';
export type {
  HeatMapSection,
  LineChartSection,
  ReportAnswer,
  ReportPage,
  ReportSection,
  TornadoSection,
} from './sections';
