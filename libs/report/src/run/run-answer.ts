import type { Comparison, Summary } from '@baton/analysis';
import { formatNumber, formatShareWithInterval, formatWithInterval } from '../format-number';
import type { ReportAnswer, ReportVerdict } from '../sections';
import { voidRecording } from './comparison-rows';
import { msText } from './headline';

/** Share of all requests that must keep the SLO: the default of `baton plan --attainment`. */
const ENOUGH = 0.9;

/**
 * The verdict on the SLO of a run, with the three figures behind it. The verdict is `void` when the
 * run was recorded on a machine that was too slow.
 */
export function runAnswer(summary: Summary, comparison: Comparison | undefined): ReportAnswer {
  const { ttft_ms: ttft, tpot_ms: tpot, request_rps, output_tokens_per_second: output } = summary;
  const ends = summary.intervals;
  const whyVoid = comparison && voidRecording(comparison);
  return {
    verdict: whyVoid === undefined ? sloVerdict(summary) : 'void',
    sentence:
      whyVoid ?? (comparison === undefined ? sloSentence(summary) : comparisonSentence(comparison)),
    figures: [
      [
        'requests/s',
        formatWithInterval(request_rps, ends.request_rps),
        `${formatWithInterval(output, ends.output_tokens_per_second)} output tokens/s`,
      ],
      ['TTFT p50', msText(ttft.p50, ends.ttft_ms.p50), `p99 ${msText(ttft.p99, ends.ttft_ms.p99)}`],
      ['TPOT p50', msText(tpot.p50, ends.tpot_ms.p50), `p99 ${msText(tpot.p99, ends.tpot_ms.p99)}`],
    ],
  };
}

export function sloVerdict({ slo, slo_attainment: share }: Summary): ReportVerdict {
  if (slo === null || share === null) return 'none';
  return share >= ENOUGH ? 'met' : 'missed';
}

/** `97.3 % [95, 98.4] of the requests keep ttft=2s; at least 90 % must.` */
export function sloSentence({
  slo,
  slo_attainment: share,
  requests,
  completed,
  intervals,
}: Summary): string {
  if (slo === null) {
    const done = `${formatNumber(completed)} of ${formatNumber(requests)} requests completed`;
    return `${done}; add --slo for a verdict.`;
  }
  const attained = formatShareWithInterval(share, intervals.slo_attainment);
  const bounds = slo.replaceAll(',', ', ');
  return `${attained} of the requests keep ${bounds}; at least ${ENOUGH * 100} % must.`;
}

function comparisonSentence({ ttft_ms, tpot_ms, request_rps }: Comparison): string {
  const errors = [
    ['median TTFT', ttft_ms.error_percent.p50],
    ['median TPOT', tpot_ms.error_percent.p50],
    ['throughput', request_rps.error_percent],
  ] as const;
  const texts = errors.map(([name, percent]) => `${name} by ${signed(percent)}`);
  return `The simulation differs from the recorded run in ${texts.join(', ')}.`;
}

function signed(percent: number | null): string {
  if (percent === null) return '–';
  return `${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`;
}
