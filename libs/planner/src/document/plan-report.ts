import {
  classSections,
  foldExcept,
  formatMs,
  formatMsInterval,
  formatShare,
  formatShareWithInterval,
  formatWithInterval,
  type LineChartSection,
  type ReportAnswer,
  type ReportPage,
  type ReportSection,
  settingsSections,
} from '@baton/report';
import { formatSlo, parseSlo } from '@baton/analysis';
import { defaultConfig, shownConfig } from '@baton/config';
import { usToMs } from '@baton/kernel';
import { answersSection } from './answers';
import { cellsWithEnds } from './cell-ends';
import { explanationSections } from './explanation';
import { extrapolationLines, extrapolationSections } from './extrapolations';
import { heatMapOf } from './heat-map';
import {
  intervalNote,
  COST_COLUMNS,
  costRows,
  notSimulated,
  picked,
  ranked,
  sensitivityColumns,
  sensitivityRows,
  SETTING_COLUMNS,
  settingRows,
  SPLIT_COLUMNS,
  splitEnds,
  splitRow,
} from './plan-console';
import { whatIfSections } from './tornado';
import type { FrontierDocument, PlanDocument } from './plan-document';

/** The columns of the table of splits that fit a page of 1,440 pixels. */
const SPLITS_SHOWN = [
  ...['split', 'estimate', 'goodput', 'per GPU', 'in windows', 'attained', 'TTFT p90', 'TPOT p90'],
  ...['ITL p99', 'in steps', 'front'],
];
/** Number of lines that a chart shows distinctly. */
const MOST_LINES = 8;

/** The sections that most readers need. Others open on a click. */
const OPEN = [
  ...['Answers', 'How sure this is', 'Start it', 'Throughput and speed', 'Splits'],
  ...['What the settings are worth', 'What if', 'Why not', 'Goodput per GPU'],
  'Configuration, changed',
];

/** A plan as an HTML page. */
export function planReport(
  document: PlanDocument,
  { title, subtitle }: { readonly title: string; readonly subtitle: string },
): ReportPage {
  const { notes, command, replay_command: replay } = document;
  return {
    title,
    subtitle,
    answer: answer(document),
    sections: foldExcept(sectionsOf(), OPEN),
  };

  function sectionsOf(): ReportSection[] {
    return [
      answersSection(document),
      {
        kind: 'note',
        title: 'How sure this is',
        text: [
          intervalNote(document),
          ...notSimulated(document),
          ...extrapolationLines(document.extrapolations),
          ...notes,
        ].join('\n\n'),
      },
      {
        kind: 'commands',
        title: 'Start it',
        commands: [command, ...(replay === null ? [] : [replay])],
      },
      frontChart(document),
      ...settingsWorth(document),
      heatMapOf(document),
      frontierChart(document, 'ttft'),
      frontierChart(document, 'tpot'),
      {
        kind: 'table',
        title: 'Splits: each at its highest rate within the SLO',
        note: 'Each split at its highest rate within the SLO. plan.csv has every figure.',
        columns: picked(SPLIT_COLUMNS, SPLITS_SHOWN),
        rows: ranked(document.splits).map((one) => {
          return picked(cellsWithEnds(splitRow(one), splitEnds(one)), SPLITS_SHOWN);
        }),
      },
      ...classSections(document.winner.slo_classes),
      ...costs(document),
      {
        kind: 'table',
        title: 'Sensitivity: does the winner still win?',
        note:
          'Goodput per GPU of the best split of each kind, its highest rate searched anew ' +
          'under each assumption.',
        columns: sensitivityColumns(document),
        rows: sensitivityRows(document),
      },
      ...whatIfSections(document),
      ...explanationSections(document.explanation),
      stepTimes(document),
      ...extrapolationSections(document.extrapolations),
      ...frontEnd(document),
      ...configuration(document),
    ];
  }
}

function costs(document: PlanDocument): ReportSection[] {
  const rows = costRows(document);
  if (rows.length === 0) return [];
  return [{ kind: 'table', title: 'Cost and energy', columns: COST_COLUMNS, rows }];
}

const WORDS = { met: '✔ ', doubt: '? ', missed: '✖ ' } as const;

/** Whether nothing that the document says makes its answer doubtful. */
function isFirm({ confidence, doubts }: PlanDocument): boolean {
  return (confidence === 'firm' || confidence === 'alone') && doubts.length === 0;
}

function answer(document: PlanDocument): ReportAnswer {
  const { winner, slo_attainment_target: target, verdict } = document;
  const isMet = (winner.slo_attainment ?? 0) >= target;
  const confidence = isFirm(document) ? 'met' : 'doubt';
  const { intervals: ends } = winner;
  const ttft = winner.ttft_ms?.p90 ?? null;
  return {
    verdict: isMet ? confidence : 'missed',
    headline: `${WORDS[isMet ? confidence : 'missed']}${document.headline}`,
    sentence: [verdict, ...document.doubts].join(' '),
    figures: [
      [
        'goodput per GPU, requests/s',
        formatWithInterval(winner.goodput_rps_per_gpu, ends?.goodput_rps_per_gpu),
        `${formatWithInterval(winner.goodput_rps, ends?.goodput_rps)} in all`,
      ],
      margin(document),
      ['TTFT p90', `${formatMs(ttft)} ${formatMsInterval(ttft, ends?.ttft_ms.p90)}`.trimEnd()],
    ],
  };
}

/** The lead of the winner over the other kind of split. */
function margin(document: PlanDocument): ReportAnswer['figures'][number] {
  const { winner, splits, best_disaggregated, margin_over_aggregated, intervals } = document;
  if (winner.kind !== 'aggregated') {
    const lead = formatShareWithInterval(margin_over_aggregated, intervals.margin_over_aggregated);
    return ['more than aggregated', lead, 'goodput of the best aggregated split'];
  }
  const rival = splits.find(({ name }) => name === best_disaggregated)?.goodput_rps ?? null;
  const lead = rival === null || rival === 0 ? null : (winner.goodput_rps ?? 0) / rival - 1;
  return ['more than disaggregated', formatShare(lead), 'goodput of the best disaggregated split'];
}

/**
 * Tokens per second and GPU over tokens per second and user, the plot of InferenceMAX: the upper
 * right is better, and a deployment chooses a point of it by its rate.
 */
function frontChart({ frontier, splits }: PlanDocument): LineChartSection {
  const names = [...new Set(frontier.map(({ name }) => name))].slice(0, MOST_LINES);
  const shown = frontier.filter(({ name, output_tokens_per_second_per_user: speed }) => {
    return names.includes(name) && speed !== null;
  });
  const speeds = shown.map((point) => point.output_tokens_per_second_per_user ?? 0);
  const xs = [...new Set(speeds)].sort((a, b) => a - b);
  return {
    kind: 'lineChart',
    title: 'Throughput and speed: output tokens per second and GPU over tokens per second and user',
    note:
      'Each split at 25, 50, 75, 90 and 100 % of its highest rate within the SLO. Speed is 1 over ' +
      'the median TPOT.',
    x: { label: 'tokens/s per user' },
    y: { label: 'tokens/s per GPU' },
    xs,
    series: names.map((name) => ({
      name,
      values: xs.map((x) => {
        const point = shown.find((one) => {
          return one.name === name && one.output_tokens_per_second_per_user === x;
        });
        return point?.output_tokens_per_second_per_gpu ?? null;
      }),
      tone: toneOf(name, splits),
      style: 'points',
    })),
  };
}

function toneOf(name: string, splits: PlanDocument['splits']): 'aggregated' | 'decode' {
  const split = splits.find((one) => one.name === name);
  return split?.kind === 'aggregated' ? 'aggregated' : 'decode';
}

/** What each setting of the best splits is worth. */
function settingsWorth(document: PlanDocument): ReportSection[] {
  if (document.settings.length === 0) return [];
  return [
    {
      kind: 'table',
      title: 'What the settings are worth',
      note:
        'The best split of each kind with one setting as configured, and with the settings of ' +
        "the other kind's best split; its highest rate is searched anew.",
      columns: SETTING_COLUMNS,
      rows: settingRows(document),
    },
  ];
}

/** The latency of the Pareto front's splits, from a quarter of their load to all of it. */
function frontierChart(
  { frontier, slo, splits }: PlanDocument,
  latency: 'ttft' | 'tpot',
): LineChartSection {
  const names = [...new Set(frontier.map(({ name }) => name))].slice(0, MOST_LINES);
  const shown = frontier.filter(({ name }) => names.includes(name));
  const xs = [...new Set(shown.map((point) => point.request_rps_per_gpu ?? 0))].sort(
    (a, b) => a - b,
  );
  const valueOf = (point: FrontierDocument): number | null => point[`${latency}_ms`].p90;
  const boundUs = parseSlo(slo)[latency];
  return {
    kind: 'lineChart',
    width: 'half',
    title: `${latency.toUpperCase()} over load: the Pareto front`,
    note:
      'Splits that no other split beats in TTFT, TPOT and goodput, at 25, 50, 75, 90 and 100 % ' +
      'of their highest rates.',
    x: { label: 'requests/s per GPU' },
    y: { label: `${latency.toUpperCase()} p90`, unit: 'ms' },
    xs,
    series: names.map((name) => ({
      name,
      values: xs.map((x) => {
        const point = shown.find((each) => each.name === name && each.request_rps_per_gpu === x);
        return point === undefined ? null : valueOf(point);
      }),
      tone: toneOf(name, splits),
      style: 'points',
    })),
    ...(boundUs === undefined
      ? {}
      : { marks: [{ axis: 'y', at: usToMs(boundUs), label: formatSlo({ [latency]: boundUs }) }] }),
  };
}

function stepTimes({ step_times }: PlanDocument): ReportSection {
  return {
    kind: 'table',
    title: 'Step times',
    columns: [{ name: 'engine' }, { name: 'model' }],
    rows: Object.entries(step_times),
  };
}

function frontEnd({ front_end: servers }: PlanDocument): ReportSection[] {
  return servers === undefined ? [] : settingsSections('Front end', { ...servers });
}

function configuration({ config, seed }: PlanDocument): ReportSection[] {
  const { workload, ...options } = config;
  return settingsSections(
    'Configuration',
    { seed, ...options, workload },
    shownConfig(defaultConfig()),
  );
}
