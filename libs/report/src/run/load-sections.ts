import {
  overTime,
  phasesOf,
  type RequestPhase,
  type RequestLog,
  type RunRecord,
  type Slo,
  type Summary,
} from '@baton/analysis';
import { usToSeconds } from '@baton/kernel';
import { formatMs } from '../format-number';
import type { BarsSection, LineChartSection, Series, Tone } from '../sections';

const INTERVALS = 200;

export const PHASE_TONES: Readonly<Record<RequestPhase, Tone>> = {
  front_end: 'aggregated',
  queue: 'queue',
  prefill: 'prefill',
  dispatch: 'aggregated',
  hold: 'hold',
  transfer: 'transfer',
  decode_wait: 'wait',
  decode: 'decode',
};

export const PHASE_NAMES: Readonly<Record<RequestPhase, string>> = {
  front_end: 'front end',
  queue: 'queue',
  prefill: 'prefill',
  dispatch: 'dispatch',
  hold: 'hold',
  transfer: 'transfer',
  decode_wait: 'decode wait',
  decode: 'decode',
};

/** Sections on load and throughput over time, and on the phases of a request. */
export function loadSections(
  run: RunRecord,
  result: { readonly summary: Summary; readonly slo: Slo },
): (LineChartSection | BarsSection)[] {
  return [
    ...rateSections(run, result, { time: 'simulated seconds', intervals: INTERVALS }),
    phaseBars(run.log, result.summary),
  ];
}

/** Sections on requests and tokens per second over time. */
export function rateSections(
  run: RunRecord,
  { summary, slo }: { readonly summary: Summary; readonly slo: Slo },
  { time, intervals }: { readonly time: string; readonly intervals: number },
): LineChartSection[] {
  const { endUs, log } = run;
  const rates = overTime(log, { endUs, intervals, slo });
  const count = log.count === 0 ? 0 : intervals;
  const axes = {
    kind: 'lineChart' as const,
    width: 'half' as const,
    x: { label: time },
    xs: Array.from({ length: count }, (_none, i) => usToSeconds((i + 0.5) * rates.intervalUs)),
  };
  const line = (name: string, values: Float64Array, tone: Tone): Series => {
    return { name, values: [...values], tone };
  };
  const good = summary.slo === null ? [] : [line('within the SLO', rates.good, 'good')];
  return [
    {
      ...axes,
      title: summary.slo === null ? 'Requests' : 'Goodput',
      y: { label: 'requests/s' },
      series: [
        line('arriving', rates.arrivals, 'queue'),
        line('completed', rates.completions, 'prefill'),
        ...good,
      ],
    },
    {
      ...axes,
      title: 'Throughput',
      y: { label: 'output tokens/s' },
      series: [{ ...line('output tokens', rates.outputTokens, 'decode'), style: 'area' }],
    },
  ];
}

function phaseBars(log: RequestLog, { phase_means_ms }: Summary): BarsSection {
  return {
    kind: 'bars',
    title: 'Mean phases of a request',
    width: 'half',
    bars: phasesOf(log).map((phase) => {
      const value = phase_means_ms[phase] ?? null;
      return { label: PHASE_NAMES[phase], value, text: formatMs(value), tone: PHASE_TONES[phase] };
    }),
  };
}
