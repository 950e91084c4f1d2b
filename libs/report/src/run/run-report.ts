import { type RunRecord, type Slo, type Summary } from '@baton/analysis';
import { foldExcept } from '../fold';
import type { ReportPage, ReportSection } from '../sections';
import { settingsSections } from '../settings-sections';
import { type ComparisonReport, comparisonSections } from './comparison-sections';
import { classSections } from './class-table';
import { costSections } from './cost-sections';
import { engineSections } from './engine-sections';
import { latencySections } from './latency-sections';
import { loadSections } from './load-sections';
import { headline } from './headline';
import { runAnswer } from './run-answer';
import { scalingSections } from './scaling-sections';
import { stepTimesSections } from './step-times';
import { timelineSection } from './timeline-section';

/** A run with its facts for the report. */
export interface RunReport {
  readonly run: RunRecord;
  readonly summary: Summary;
  readonly slo: Slo;
  readonly title: string;
  readonly subtitle: string;
  /** Default values of the options, by configuration name. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** The recorded run for comparison. */
  readonly compared?: ComparisonReport | undefined;
}

/** The sections that are open at first; the others open on a click. */
const OPEN = [
  ...['Recorded against simulated', 'TTFT recorded and simulated', 'TPOT recorded and simulated'],
  ...[
    'Latency',
    'Goodput',
    'Requests',
    'TTFT',
    'TPOT',
    'Mean phases of a request',
    'Time in steps',
    'How full engines are',
  ],
  'Configuration, changed',
];

/** The page of one run. It does not depend on the wall clock, so equal runs give equal bytes. */
export function runReport(report: RunReport): ReportPage {
  const { run, summary, slo, title, subtitle, defaults, compared } = report;
  return {
    title,
    subtitle,
    answer: runAnswer(summary, compared?.comparison),
    sections: foldExcept(sectionsOf(), OPEN),
  };

  function sectionsOf(): ReportSection[] {
    return [
      headline(summary),
      ...costSections(summary.cost),
      ...(compared === undefined ? [] : comparisonSections(compared)),
      ...latencySections(run, { summary, slo }),
      ...classSections(summary.slo_classes),
      ...loadSections(run, { summary, slo }),
      ...scalingSections(summary),
      ...engineSections(run, summary),
      timelineSection(run),
      ...stepTimesSections(summary),
      ...frontEnd(summary),
      ...configuration(summary, defaults),
    ];
  }
}

function frontEnd({ front_end: settings }: Summary): ReportSection[] {
  return settings === undefined ? [] : settingsSections('Front end', { ...settings });
}

function configuration(
  { config, seed }: Summary,
  defaults: Readonly<Record<string, unknown>>,
): ReportSection[] {
  if (config === undefined) return [];
  return settingsSections('Configuration', { seed, ...config }, defaults);
}
