import {
  type CumulativeShare,
  cumulativeShare,
  type Distribution,
  type DistributionIntervals,
  type LateFigureName,
  eachLatency,
  type Objective,
  type RunRecord,
  type Slo,
  type Summary,
} from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import { formatMs, formatShareWithInterval } from '../format-number';
import { intervalsNote, msText } from './headline';
import type { LineChartSection, TableSection } from '../sections';

/** Short and long names of the four latencies, in the order of display. */
export const LATENCIES = [
  ['ttft', 'TTFT', 'time to first token'],
  ['tpot', 'TPOT', 'time per output token after the first'],
  ['itl', 'ITL', 'gap between two tokens'],
  ['e2el', 'E2EL', 'end-to-end latency'],
] as const;

export const STATISTICS = ['mean', 'p50', 'p90', 'p95', 'p99', 'max'] as const;

export interface LatencyParts {
  readonly summary: Summary;
  readonly slo: Slo;
  /** The figures that the lateness of a measurement makes wrong. Default: none. */
  readonly late?: readonly LateFigureName[];
}

/** Behind the name of a figure that lateness makes wrong. */
export const VOID_MARK = ' (VOID)';

/** Ratio of the highest to the lowest value above which an axis is logarithmic. */
const WIDE = 50;
/** Ratio of the median gap to a gap that no engine step caused. */
const SLIVER = 100;

export function latencySections(
  run: RunRecord,
  { summary, slo, late = [] }: LatencyParts,
): (TableSection | LineChartSection)[] {
  const { ttftUs, tpotUs, e2elUs } = eachLatency(run.log, cumulativeShare);
  const curves: Record<Objective, CumulativeShare> = {
    ttft: ttftUs,
    tpot: tpotUs,
    itl: cumulativeShare(run.itl),
    e2el: e2elUs,
  };
  const charts = LATENCIES.map(([name, short, long]) => {
    const isGaps = name === 'itl';
    return {
      ...chart(
        `${short}: ${long}`,
        isGaps ? withoutSlivers(curves.itl) : curves[name],
        isGaps ? undefined : slo[name],
      ),
      ...(late.includes(name) ? { note: 'VOID: the machine was too slow.' } : {}),
    };
  });
  return [table({ summary, slo, late }), ...charts];
}

/**
 * Leaves out gaps of a few µs between tokens that were read at once. They would take most of a
 * logarithmic axis.
 */
function withoutSlivers({ us, shares }: CumulativeShare): CumulativeShare {
  const median = us[shares.findIndex((share) => share >= 0.5)] ?? 0;
  const from = Math.max(
    0,
    us.findIndex((each) => each >= median / SLIVER),
  );
  return { us: us.slice(from), shares: shares.slice(from) };
}

/** Whether ascending values are easier to read on a logarithmic axis. */
export function isWide(ascending: readonly number[]): boolean {
  const low = ascending[0] ?? 0;
  return low > 0 && (ascending.at(-1) ?? 0) / low > WIDE;
}

/** Distributions by name, from a summary. */
export function distributions(summary: Summary): Record<Objective, Distribution> {
  const { ttft_ms, tpot_ms, itl_ms, e2el_ms } = summary;
  return { ttft: ttft_ms, tpot: tpot_ms, itl: itl_ms, e2el: e2el_ms };
}

/** Intervals of the distributions, by the same names. */
export function latencyIntervals(summary: Summary): Record<Objective, DistributionIntervals> {
  const { ttft_ms, tpot_ms, itl_ms, e2el_ms } = summary.intervals;
  return { ttft: ttft_ms, tpot: tpot_ms, itl: itl_ms, e2el: e2el_ms };
}

function table({ summary, slo, late }: Required<LatencyParts>): TableSection {
  const all = distributions(summary);
  const ends = latencyIntervals(summary);
  return {
    kind: 'table',
    title: 'Latency',
    note: `Over completed requests, ITL over all gaps. Intervals: ${intervalsNote(summary)}.`,
    columns: ['', ...STATISTICS, 'SLO', 'attained'].map((name, i) => ({
      name,
      align: i === 0 ? ('left' as const) : ('right' as const),
    })),
    rows: LATENCIES.map(([name, short, long]) => {
      const boundUs = slo[name];
      const attained = summary.slo_attainment_by_objective[name] ?? null;
      return [
        `${short}, ${long}${late.includes(name) ? VOID_MARK : ''}`,
        ...STATISTICS.map((each) => msText(all[name][each], ends[name][each])),
        formatMs(boundUs === undefined ? null : usToMs(boundUs)),
        formatShareWithInterval(attained, summary.intervals.slo_attainment_by_objective[name]),
      ];
    }),
  };
}

function chart(
  title: string,
  { us, shares }: CumulativeShare,
  boundUs: number | undefined,
): LineChartSection {
  const xs = us.map(usToMs);
  const atMs = boundUs === undefined ? undefined : usToMs(boundUs);
  return {
    kind: 'lineChart',
    title,
    width: 'half',
    x: { label: 'latency', unit: 'ms', scale: isWide(xs) ? 'log' : 'linear' },
    y: { label: '% at most', range: [0, 100] },
    xs,
    series: [{ name: 'share', values: shares.map((share) => share * 100), tone: 'prefill' }],
    marks: atMs === undefined ? [] : [{ axis: 'x', at: atMs, label: `SLO ${formatMs(atMs)}` }],
  };
}
