import type { Summary } from '@baton/analysis';
import { formatBytes, formatMs, formatNumber, formatSeconds, formatShare } from '../format-number';
import type { KeyValuesSection } from '../sections';

type Entry = KeyValuesSection['entries'][number];

/** The figures that are looked at first. */
export function headline(summary: Summary): KeyValuesSection {
  const { ttft_ms: ttft, tpot_ms: tpot } = summary;
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
        formatNumber(summary.request_rps),
        `${formatNumber(summary.output_tokens_per_second)} output tokens/s`,
      ],
      ['TTFT p50', formatMs(ttft.p50), `p99 ${formatMs(ttft.p99)}`],
      ['TPOT p50', formatMs(tpot.p50), `p99 ${formatMs(tpot.p99)}`],
      ['prefix cache', formatShare(summary.prefix_hit_rate), 'of prompt tokens'],
      [
        'KV over links',
        formatBytes(summary.kv_transfer_bytes),
        `${formatNumber(summary.preemptions)} preemptions`,
      ],
    ],
  };
}

/** `9 rejected, 2 failed`; what did not happen is not told. */
export function outcomes(summary: Summary): string {
  const told = (['completed', 'rejected', 'refused', 'failed', 'unfinished'] as const)
    .filter((name) => name === 'completed' || summary[name] > 0)
    .map((name) => `${formatNumber(summary[name])} ${name}`);
  return told.join(', ');
}

function goodput({ slo, slo_attainment, goodput_rps, goodput_rps_per_gpu }: Summary): Entry[] {
  if (slo === null) return [];
  return [
    ['SLO attainment', formatShare(slo_attainment), slo.replaceAll(',', ', ')],
    [
      'goodput, requests/s',
      formatNumber(goodput_rps),
      `${formatNumber(goodput_rps_per_gpu)} per GPU`,
    ],
  ];
}
