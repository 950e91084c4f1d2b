import type { MeasuredStep } from '../fits/measured-step';

const HEADER = 'phase,batch_size,tokens_or_context,cached_prefix,latency_ms';

/**
 * The points in the format of `--input`: one prompt per prefill row, the context per sequence of a
 * decode row.
 */
export function pointsCsv(steps: readonly MeasuredStep[]): string {
  const rows = steps.map((step) =>
    step.decodeSeqs > 0
      ? ['decode', step.decodeSeqs, step.decodeContext / step.decodeSeqs, 0, step.ms]
      : ['prefill', 1, step.prefillTokens, step.prefillContext, step.ms],
  );
  return `${[HEADER, ...rows.map((row) => row.join(','))].join('\n')}\n`;
}
