import type { ClassSummary } from '@baton/analysis';
import { consoleTable } from '../console-table';
import { formatMs, formatNumber, formatShare } from '../format-number';
import type { ReportSection } from '../sections';

const NAMES = [
  ...['SLO class', 'requests', 'rejected', 'attained', 'goodput/s'],
  ...['TTFT p50', 'TTFT p99', 'TPOT p50', 'TPOT p99', 'waited p99'],
];

/** The results of the SLO classes, one line per class. Empty without classes. */
export function classTable(classes: readonly ClassSummary[] = []): string {
  if (classes.length === 0) return '';
  const columns = NAMES.map((name, i) => {
    return { name, align: i === 0 ? ('left' as const) : ('right' as const) };
  });
  return consoleTable(columns, classes.map(rowOf));
}

/** The table of SLO classes as sections of the report. */
export function classSections(classes: readonly ClassSummary[] = []): ReportSection[] {
  if (classes.length === 0) return [];
  const columns = NAMES.map((name) => ({ name }));
  return [{ kind: 'table', title: 'SLO classes', columns, rows: classes.map(rowOf) }];
}

function rowOf(summary: ClassSummary): string[] {
  const { ttft_ms: ttft, tpot_ms: tpot, flow_wait_ms: wait } = summary;
  return [
    summary.slo === null ? summary.name : `${summary.name} (${summary.slo})`,
    formatNumber(summary.requests),
    formatNumber(summary.rejected),
    formatShare(summary.slo_attainment),
    formatNumber(summary.goodput_rps),
    ...[ttft.p50, ttft.p99, tpot.p50, tpot.p99, wait?.p99 ?? null].map(formatMs),
  ];
}
