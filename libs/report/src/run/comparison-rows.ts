import type { ComparedRate, Comparison, Distribution } from '@baton/analysis';
import { formatMs, formatNumber } from '../format-number';
import { LATENCIES } from './latency-sections';

/** Statistics that are shown for both runs. */
const STATISTICS = ['mean', 'p50', 'p99'] as const satisfies readonly (keyof Distribution)[];

export const COMPARISON_COLUMNS = ['', 'recorded', 'stamped', 'simulated', 'error'].map(
  (name, i) => ({ name, align: i === 0 ? ('left' as const) : ('right' as const) }),
);

/**
 * One line per figure: as recorded, as stamped by the engines, as simulated, and the error of the
 * simulation.
 */
export function comparisonRows(comparison: Comparison): string[][] {
  const latencies = LATENCIES.flatMap(([name, short]) => {
    const { recorded, stamped, simulated, error_percent } = comparison[`${name}_ms`];
    return STATISTICS.map((statistic) => [
      `${short} ${statistic}`,
      formatMs(recorded[statistic]),
      stamped === null ? '' : formatMs(stamped[statistic]),
      formatMs(simulated[statistic]),
      formatError(error_percent[statistic]),
    ]);
  });
  return [
    ...latencies,
    rateRow('requests/s', comparison.request_rps),
    rateRow('output tokens/s', comparison.output_tokens_per_second),
  ];
}

/** The reason why the recorded times are invalid. Undefined: they are valid. */
export function voidRecording({ delivery_ms, kept_up }: Comparison): string | undefined {
  if (kept_up) return undefined;
  return (
    'The machine did not keep up while this run was recorded: first tokens reached the API ' +
    `${lateText(delivery_ms)}. Record the run again with more CPU time or fewer requests.`
  );
}

/** Sentences on the compared requests, and on the lateness of the machine during the recording. */
export function comparisonNotes(comparison: Comparison): readonly string[] {
  const { requests, recorded_only, simulated_only, delivery_ms, kept_up } = comparison;
  const others = [
    [recorded_only, 'recorded'],
    [simulated_only, 'simulated'],
  ] as const;
  const left = others
    .filter(([count]) => count > 0)
    .map(([count, where]) => `, ${formatNumber(count)} more completed ${where} only`);
  return [
    `Over ${formatNumber(requests)} requests${left.join('')}.`,
    ...(kept_up ? [`First tokens reached the API ${lateText(delivery_ms)}.`] : []),
  ];
}

function lateText({ mean, p99 }: Comparison['delivery_ms']): string {
  return `${formatMs(mean)} after their stamp (p99 ${formatMs(p99)})`;
}

function rateRow(name: string, { recorded, simulated, error_percent }: ComparedRate): string[] {
  return [name, formatNumber(recorded), '', formatNumber(simulated), formatError(error_percent)];
}

function formatError(percent: number | null): string {
  if (percent === null) return formatNumber(null);
  const rounded = Math.round(percent * 10) / 10;
  return `${rounded > 0 ? '+' : ''}${rounded.toFixed(1)} %`;
}
