import type { Range, ValidRange } from '@baton/step-time';
import { type MeasuredStep } from './measured-step';

const NONE: Range = [0, 0];

/** The range of the measured steps, in which a fit to them is valid. */
export function measuredRange(steps: readonly MeasuredStep[]): ValidRange {
  const prompts = steps.filter((step) => step.prefillTokens > 0);
  const decodes = steps.filter((step) => step.decodeSeqs > 0);
  return {
    stepTokens: rangeOf(steps, (s) => s.prefillTokens + s.decodeSeqs + (s.draftTokens ?? 0)),
    prefillTokens: rangeOf(prompts, (step) => step.prefillTokens),
    prefillQuadraticMax: rangeOf(prompts, (step) => step.prefillQuadratic)[1],
    decodeSeqs: rangeOf(decodes, (step) => step.decodeSeqs),
    decodeContextMax: rangeOf(decodes, (step) => step.decodeContext)[1],
  };
}

function rangeOf(steps: readonly MeasuredStep[], of: (step: MeasuredStep) => number): Range {
  if (steps.length === 0) return NONE;
  let [low, high] = [Infinity, -Infinity];
  for (const step of steps) {
    low = Math.min(low, of(step));
    high = Math.max(high, of(step));
  }
  return [low, high];
}
