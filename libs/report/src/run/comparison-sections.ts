import {
  type ComparedLatencies,
  type ComparedRuns,
  type Comparison,
  type CumulativeShare,
  cumulativeShare,
  type Latencies,
  type Objective,
} from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import type { LineChartSection, ReportSection } from '../sections';
import { COMPARISON_COLUMNS, comparisonNotes, comparisonRows } from './comparison-rows';
import { isWide, LATENCIES } from './latency-sections';

export interface ComparisonReport {
  readonly runs: ComparedRuns;
  readonly latencies: ComparedLatencies;
  readonly comparison: Comparison;
}

const COLUMNS = { ttft: 'ttftUs', tpot: 'tpotUs', e2el: 'e2elUs' } as const satisfies Record<
  Exclude<Objective, 'itl'>,
  keyof Latencies
>;

/** A recorded run against its simulation: figures and curves. */
export function comparisonSections({
  runs,
  latencies,
  comparison,
}: ComparisonReport): ReportSection[] {
  const curves = (name: Objective): readonly [CumulativeShare, CumulativeShare] =>
    name === 'itl'
      ? [cumulativeShare(runs.recorded.itl), cumulativeShare(runs.simulated.itl)]
      : [
          cumulativeShare(latencies.recorded[COLUMNS[name]]),
          cumulativeShare(latencies.simulated[COLUMNS[name]]),
        ];
  return [
    {
      kind: 'table',
      title: 'Recorded against simulated',
      note: comparisonNotes(comparison).join(' '),
      columns: COMPARISON_COLUMNS,
      rows: comparisonRows(comparison),
    },
    ...LATENCIES.map(([name, short]) => chart(`${short} recorded and simulated`, curves(name))),
  ];
}

function chart(
  title: string,
  [recorded, simulated]: readonly [CumulativeShare, CumulativeShare],
): LineChartSection {
  const us = [...new Set([...recorded.us, ...simulated.us])].sort((a, b) => a - b);
  const xs = us.map(usToMs);
  const valuesOf = (curve: CumulativeShare): (number | null)[] =>
    curve.us.length === 0 ? us.map(() => null) : us.map((at) => 100 * shareAt(curve, at));
  return {
    kind: 'lineChart',
    title,
    width: 'half',
    x: {
      label: 'latency',
      unit: 'ms',
      scale: isWide(bodyOf(recorded, simulated)) ? 'log' : 'linear',
    },
    y: { label: '% at most', range: [0, 100] },
    xs,
    series: [
      { name: 'recorded', values: valuesOf(recorded), tone: 'decode', style: 'dashed' },
      { name: 'simulated', values: valuesOf(simulated), tone: 'prefill' },
    ],
  };
}

/**
 * Latencies from the first to the last percent, so that a few tokens of a stalled machine do not
 * determine the axis.
 */
function bodyOf(...curves: readonly CumulativeShare[]): number[] {
  const isBody = (share: number): boolean => share >= 0.01 && share <= 0.99;
  return curves
    .flatMap(({ us, shares }) => us.filter((_us, i) => isBody(shares[i]!)))
    .sort((a, b) => a - b);
}

/** The share of values up to `us`, interpolated linearly between the points of the curve. */
function shareAt({ us, shares }: CumulativeShare, at: number): number {
  let low = 0;
  let high = us.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (us[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return 0;
  if (low === us.length) return 1;
  const part = (at - us[low - 1]!) / (us[low]! - us[low - 1]!);
  return shares[low - 1]! + part * (shares[low]! - shares[low - 1]!);
}
