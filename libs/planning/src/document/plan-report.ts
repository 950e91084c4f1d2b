import {
  formatMs,
  formatMsInterval,
  formatShareWithInterval,
  formatWithInterval,
  type LineChartSection,
  type ReportPage,
  type ReportSection,
  settingsSection,
} from '@baton/report';
import { parseSlo } from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import { heatMapOf } from './heat-map';
import {
  alike,
  COST_COLUMNS,
  costRows,
  ranked,
  sensitivityColumns,
  sensitivityRows,
  SPLIT_COLUMNS,
  splitEnds,
  splitRow,
} from './plan-console';
import type { FrontierDocument, PlanDocument, SplitDocument } from './plan-document';

/** Lines of a chart that can be told apart. */
const MOST_LINES = 8;

/** A plan as a page. */
export function planReport(
  document: PlanDocument,
  { title, subtitle }: { readonly title: string; readonly subtitle: string },
): ReportPage {
  const { notes, command, replay_command: replay } = document;
  return {
    title,
    subtitle,
    sections: [
      headline(document),
      {
        kind: 'note',
        title: 'Verdict',
        text: [document.verdict, alike(document), ...notes].join('\n\n'),
      },
      {
        kind: 'note',
        title: 'Start it',
        text: [command, ...(replay === null ? [] : [replay])].join('\n\n'),
      },
      heatMapOf(document),
      frontierChart(document, 'ttft'),
      frontierChart(document, 'tpot'),
      {
        kind: 'table',
        title: 'Splits: each at its highest rate within the SLO',
        columns: SPLIT_COLUMNS,
        rows: ranked(document.splits).map(rowWithEnds),
      },
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
      configuration(document),
    ],
  };
}

/** Each figure with its interval. */
function rowWithEnds(split: SplitDocument): string[] {
  const ends = splitEnds(split);
  return splitRow(split).map((cell, i) => `${cell} ${ends[i]}`.trimEnd());
}

function costs(document: PlanDocument): ReportSection[] {
  const rows = costRows(document);
  if (rows.length === 0) return [];
  return [{ kind: 'table', title: 'Cost and energy', columns: COST_COLUMNS, rows }];
}

function headline({
  winner,
  intervals: margins,
  margin_over_aggregated: margin,
}: PlanDocument): ReportSection {
  const { intervals: ends } = winner;
  const msText = (name: 'p50' | 'p99', of: 'ttft_ms' | 'tpot_ms'): string => {
    const ms = winner[of]?.[name] ?? null;
    return `${formatMs(ms)} ${formatMsInterval(ms, ends?.[of][name])}`.trimEnd();
  };
  return {
    kind: 'keyValues',
    title: 'Winner',
    look: 'tiles',
    entries: [
      ['split', winner.topology, winner.name],
      [
        'goodput per GPU, requests/s',
        formatWithInterval(winner.goodput_rps_per_gpu, ends?.goodput_rps_per_gpu),
        `${formatWithInterval(winner.goodput_rps, ends?.goodput_rps)} in all`,
      ],
      [
        'over aggregated',
        formatShareWithInterval(margin, margins.margin_over_aggregated),
        'the best aggregated split',
      ],
      ['SLO attainment', formatShareWithInterval(winner.slo_attainment, ends?.slo_attainment)],
      ['TTFT p50', msText('p50', 'ttft_ms'), `p99 ${msText('p99', 'ttft_ms')}`],
      ['TPOT p50', msText('p50', 'tpot_ms'), `p99 ${msText('p99', 'tpot_ms')}`],
    ],
  };
}

/** What the splits of the front cost in latency, from a quarter of their load to all of it. */
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
      'Splits that no other beats in TTFT, TPOT and goodput, at 25, 50, 75, 90 and 100 % of ' +
      'their highest rates.',
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

function frontEnd({ front_end: told }: PlanDocument): ReportSection[] {
  return told === undefined ? [] : [settingsSection('Front end', { ...told })];
}

function configuration({ config, seed }: PlanDocument): ReportSection {
  const { workload, ...options } = config;
  const asked = Object.entries(workload as object).map(([name, value]) => {
    return [`workload ${name}`, value as unknown] as const;
  });
  const entries = [...Object.entries({ seed, ...options }), ...asked].map(([name, value]) => {
    return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const;
  });
  return { kind: 'keyValues', title: 'Configuration', look: 'list', entries };
}
