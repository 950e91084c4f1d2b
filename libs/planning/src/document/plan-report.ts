import {
  formatMs,
  formatNumber,
  formatShare,
  type LineChartSection,
  type ReportPage,
  type ReportSection,
} from '@baton/report';
import { parseSlo } from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import { heatMapOf } from './heat-map';
import {
  ranked,
  sensitivityColumns,
  sensitivityRows,
  SPLIT_COLUMNS,
  splitRow,
} from './plan-console';
import type { FrontierDocument, PlanDocument } from './plan-document';

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
      { kind: 'note', title: 'Verdict', text: [document.verdict, ...notes].join('\n\n') },
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
        rows: ranked(document.splits).map(splitRow),
      },
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
      configuration(document),
    ],
  };
}

function headline({ winner, margin_over_aggregated: margin }: PlanDocument): ReportSection {
  const { ttft_ms: ttft, tpot_ms: tpot } = winner;
  return {
    kind: 'keyValues',
    title: 'Winner',
    look: 'tiles',
    entries: [
      ['split', winner.topology, winner.name],
      [
        'goodput per GPU, requests/s',
        formatNumber(winner.goodput_rps_per_gpu),
        `${formatNumber(winner.goodput_rps)} in all`,
      ],
      ['over aggregated', formatShare(margin), 'the best aggregated split'],
      ['SLO attainment', formatShare(winner.slo_attainment)],
      ['TTFT p50', formatMs(ttft?.p50 ?? null), `p99 ${formatMs(ttft?.p99 ?? null)}`],
      ['TPOT p50', formatMs(tpot?.p50 ?? null), `p99 ${formatMs(tpot?.p99 ?? null)}`],
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
