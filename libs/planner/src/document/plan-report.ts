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
import { parseSlo } from '@baton/analysis';
import { defaultConfig, shownConfig } from '@baton/config';
import { usToMs } from '@baton/kernel';
import { cellsWithEnds } from './cell-ends';
import { heatMapOf } from './heat-map';
import {
  intervalNote,
  COST_COLUMNS,
  costRows,
  ranked,
  sensitivityColumns,
  sensitivityRows,
  SPLIT_COLUMNS,
  splitEnds,
  splitRow,
} from './plan-console';
import type { FrontierDocument, PlanDocument } from './plan-document';

/** Number of lines that a chart shows distinctly. */
const MOST_LINES = 8;

/** The sections that most readers need. Others open on a click. */
const OPEN = [
  ...['Start it', 'Goodput per GPU', 'TTFT over load', 'TPOT over load', 'Splits'],
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
      {
        kind: 'note',
        title: 'How sure this is',
        text: [intervalNote(document), ...notes].join('\n\n'),
      },
      {
        kind: 'commands',
        title: 'Start it',
        commands: [command, ...(replay === null ? [] : [replay])],
      },
      heatMapOf(document),
      frontierChart(document, 'ttft'),
      frontierChart(document, 'tpot'),
      {
        kind: 'table',
        title: 'Splits: each at its highest rate within the SLO',
        columns: SPLIT_COLUMNS,
        rows: ranked(document.splits).map((one) => cellsWithEnds(splitRow(one), splitEnds(one))),
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
      stepTimes(document),
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

function answer(document: PlanDocument): ReportAnswer {
  const { winner, slo_attainment_target: target, verdict } = document;
  const { intervals: ends } = winner;
  const ttft = winner.ttft_ms?.p90 ?? null;
  return {
    verdict: (winner.slo_attainment ?? 0) >= target ? 'met' : 'missed',
    sentence: verdict,
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
      tone:
        splits.find((split) => split.name === name)?.kind === 'aggregated'
          ? 'aggregated'
          : 'decode',
      style: 'points',
    })),
    ...(boundUs === undefined ? {} : { marks: [{ axis: 'y', at: usToMs(boundUs), label: slo }] }),
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
