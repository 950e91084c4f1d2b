import type { Interval, Summary } from '@baton/analysis';
import {
  formatBytes,
  formatMs,
  formatMsInterval,
  formatNumber,
  formatSeconds,
  formatShare,
  formatShareWithInterval,
  formatWithInterval,
} from '../format-number';
import type { KeyValuesSection } from '../sections';

type Entry = KeyValuesSection['entries'][number];

/** The most important figures. */
export function headline(summary: Summary): KeyValuesSection {
  const { ttft_ms: ttft, tpot_ms: tpot, output_tokens_per_second: output } = summary;
  const ends = summary.intervals;
  return {
    kind: 'keyValues',
    title: 'Summary',
    look: 'tiles',
    entries: [
      ['requests', formatNumber(summary.requests), outcomes(summary)],
      [
        'simulated',
        formatSeconds(summary.simulated_seconds),
        `${formatNumber(summary.steps)} steps`,
      ],
      ...goodput(summary),
      [
        'requests/s',
        formatWithInterval(summary.request_rps, ends.request_rps),
        `${formatWithInterval(output, ends.output_tokens_per_second)} output tokens/s`,
      ],
      ['TTFT p50', msText(ttft.p50, ends.ttft_ms.p50), `p99 ${msText(ttft.p99, ends.ttft_ms.p99)}`],
      ['TPOT p50', msText(tpot.p50, ends.tpot_ms.p50), `p99 ${msText(tpot.p99, ends.tpot_ms.p99)}`],
      [
        'prefix cache',
        formatShareWithInterval(summary.prefix_hit_rate, ends.prefix_hit_rate),
        'of prompt tokens',
      ],
      [
        'KV over links',
        formatBytes(summary.kv_transfer_bytes),
        `${formatNumber(summary.preemptions)} preemptions`,
      ],
    ],
  };
}

/** Explains the intervals: their level, and their assumption about step times. */
export function intervalsNote({ intervals: { level, model } }: Summary): string {
  return `${formatShare(level)}, in brackets: another sample of this load; ${model.source}`;
}

/** `9 rejected, 2 failed`. Zero counts are omitted. */
export function outcomes(summary: Summary): string {
  const counts = (['completed', 'rejected', 'refused', 'failed', 'unfinished'] as const)
    .filter((name) => name === 'completed' || summary[name] > 0)
    .map((name) => `${formatNumber(summary[name])} ${name}`);
  return counts.join(', ');
}

function goodput(summary: Summary): Entry[] {
  const { slo, slo_attainment, goodput_rps, goodput_rps_per_gpu, intervals } = summary;
  if (slo === null) return [];
  return [
    [
      'SLO attainment',
      formatShareWithInterval(slo_attainment, intervals.slo_attainment),
      slo.replaceAll(',', ', '),
    ],
    [
      'goodput, requests/s',
      formatWithInterval(goodput_rps, intervals.goodput_rps),
      `${formatWithInterval(goodput_rps_per_gpu, intervals.goodput_rps_per_gpu)} per GPU`,
    ],
  ];
}

/** `212 ms [190, 241]`. */
export function msText(ms: number | null, interval: Interval | null): string {
  return `${formatMs(ms)} ${formatMsInterval(ms, interval)}`.trimEnd();
}
