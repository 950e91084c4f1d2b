import type { BatchAggregates } from '@baton/step-time';

/** One measured step: the sums of its batch, and its time. */
export interface MeasuredStep extends Omit<BatchAggregates, 'kvUsage'> {
  /** Above 0. */
  readonly ms: number;
}

export type Phase = 'prefill' | 'decode' | 'mixed';

export const PHASES: readonly Phase[] = ['prefill', 'decode', 'mixed'];

export function phaseOf({ prefillTokens, decodeSeqs }: MeasuredStep): Phase {
  if (prefillTokens === 0) return 'decode';
  return decodeSeqs === 0 ? 'prefill' : 'mixed';
}

/**
 * A step that computes `count` prompts of `tokens` new tokens, each after `cached` other tokens.
 */
export function prefillStep(shape: {
  readonly count?: number;
  readonly tokens: number;
  readonly cached?: number;
  readonly ms: number;
}): MeasuredStep {
  const { count = 1, tokens, cached = 0, ms } = shape;
  return {
    prefillTokens: count * tokens,
    prefillSeqs: count,
    prefillQuadratic: count * ((cached + tokens) ** 2 - cached ** 2),
    prefillContext: count * cached,
    decodeSeqs: 0,
    decodeContext: 0,
    ms,
  };
}

/** A step in which `sequences` with `context` tokens together get one token each. */
export function decodeStep(sequences: number, context: number, ms: number): MeasuredStep {
  return {
    prefillTokens: 0,
    prefillSeqs: 0,
    prefillQuadratic: 0,
    prefillContext: 0,
    decodeSeqs: sequences,
    decodeContext: context,
    ms,
  };
}

/**
 * Number of different batches. Steps with equal model inputs are one batch, measured several times.
 */
export function distinctBatches(steps: readonly MeasuredStep[]): number {
  const keys = steps.map((step) =>
    [step.prefillTokens, step.prefillQuadratic, step.decodeSeqs, step.decodeContext].join(' '),
  );
  return new Set(keys).size;
}
