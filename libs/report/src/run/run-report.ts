import { latenciesOf, type RunRecord, type Slo, type Summary } from '@baton/analysis';
import type { ReportPage, ReportSection } from '../sections';
import { type ComparisonReport, comparisonSections } from './comparison-sections';
import { costSections } from './cost-sections';
import { engineSections } from './engine-sections';
import { latencySections } from './latency-sections';
import { loadSections } from './load-sections';
import { headline } from './headline';
import { scalingSections } from './scaling-sections';
import { timelineSection } from './timeline-section';

/** A run with its facts for the report. */
export interface RunReport {
  readonly run: RunRecord;
  readonly summary: Summary;
  readonly slo: Slo;
  readonly title: string;
  readonly subtitle: string;
  /** The recorded run that this one is compared with. */
  readonly compared?: ComparisonReport | undefined;
}

/**
 * The pages of one run. Nothing in it depends on the wall clock, so the same run gives the same
 * bytes.
 */
export function runReport(report: RunReport): ReportPage {
  const { run, summary, slo, title, subtitle, compared } = report;
  return {
    title,
    subtitle,
    sections: [
      headline(summary),
      ...costSections(summary.cost),
      ...(compared === undefined ? [] : comparisonSections(compared)),
      ...latencySections(run, { summary, slo, latencies: latenciesOf(run.log) }),
      ...loadSections(run, { summary, slo }),
      ...scalingSections(summary),
      ...engineSections(run, summary),
      timelineSection(run),
      ...stepTimes(summary),
      ...frontEnd(summary),
      ...configuration(summary),
    ],
  };
}

function stepTimes({ step_times = [] }: Summary): ReportSection[] {
  if (step_times.length === 0) return [];
  const columns = ['engines', 'method', 'step times', 'steps outside the measured range'];
  return [
    {
      ...{ kind: 'table', title: 'Step times' },
      columns: columns.map((name) => ({ name })),
      rows: step_times.map((one) => [
        ...[one.role, one.method, one.description, one.steps_outside_range],
      ]),
    },
  ];
}

function frontEnd({ front_end: told }: Summary): ReportSection[] {
  return told === undefined ? [] : [settingsSection('Front end', { ...told })];
}

function configuration({ config, seed }: Summary): ReportSection[] {
  return config === undefined ? [] : [settingsSection('Configuration', { seed, ...config })];
}

/** What a run depended on; entries of a group carry its name. */
export function settingsSection(
  title: string,
  settings: Readonly<Record<string, unknown>>,
): ReportSection {
  const entries = Object.entries(settings).flatMap(([key, value]) => {
    const isGroup = typeof value === 'object' && value !== null;
    const inner = isGroup ? Object.entries(value) : [['', value] as const];
    return inner.map(
      ([name, each]) => [name === '' ? key : `${key} ${name}`, settingText(each)] as const,
    );
  });
  return { kind: 'keyValues', title, look: 'list', entries };
}

function settingText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
