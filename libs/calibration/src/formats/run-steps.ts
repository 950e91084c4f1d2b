import { decodeStep, type MeasuredStep, prefillStep } from '../fits/measured-step';

/** A benchmark run with only means and medians. */
export interface RunSummary {
  /** Requests under way at once. Undefined when unbounded or unknown. */
  readonly concurrency?: number | undefined;
  readonly outputTokensPerSecond?: number | undefined;
  readonly meanTokenGapMs?: number | undefined;
  readonly medianTokenGapMs?: number | undefined;
  readonly medianTtftMs?: number | undefined;
  readonly meanInputTokens: number;
  readonly meanOutputTokens: number;
}

export interface RunSteps {
  readonly steps: readonly MeasuredStep[];
  readonly note: string;
}

/**
 * Derives steps from the summary of a run. One decode step: the median gap between tokens, for the
 * number of sequences by Little's law (tokens per second times the mean gap), each with its prompt
 * and half of its output. A run with one request at a time also gives one prefill step.
 */
export function stepsOfRun(run: RunSummary): RunSteps {
  const { meanInputTokens: input, meanOutputTokens: output, medianTokenGapMs, medianTtftMs } = run;
  const sequences = decodingSequences(run);
  const context = Math.round((sequences ?? 0) * (input + output / 2));
  const decode =
    sequences !== undefined && medianTokenGapMs !== undefined && medianTokenGapMs > 0
      ? [decodeStep(sequences, context, medianTokenGapMs)]
      : [];
  const prefill =
    run.concurrency === 1 && medianTtftMs !== undefined && medianTtftMs > 0
      ? [prefillStep({ tokens: Math.round(input), ms: medianTtftMs })]
      : [];
  return { steps: [...decode, ...prefill], note: noteOf(decode.length, prefill.length) };
}

function decodingSequences(run: RunSummary): number | undefined {
  if (run.concurrency === 1) return 1;
  const { outputTokensPerSecond: rate, meanTokenGapMs: gapMs } = run;
  if (rate === undefined || gapMs === undefined) return run.concurrency;
  return Math.max(1, Math.round((rate * gapMs) / 1000));
}

function noteOf(decodes: number, prefills: number): string {
  const parts = [
    ...(decodes > 0 ? ['one decode point'] : []),
    ...(prefills > 0 ? ['one prefill point'] : []),
  ];
  const gives = parts.length === 0 ? 'no point' : parts.join(' and ');
  const alone = prefills > 0 ? '' : '; a run with one request at a time gives a prefill point too';
  return `it has no times of single requests, and so gives ${gives}${alone}`;
}
