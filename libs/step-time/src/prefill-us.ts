import type { Micros } from '@baton/kernel';
import type { StepTimeModel } from './port/step-time-model';

/**
 * Time of a single prompt of `tokens` after `cached` tokens, in chunks of at most `budget` tokens
 * per step. µs; time O(tokens / budget).
 */
export function prefillUs(
  stepTime: StepTimeModel,
  prompt: { readonly tokens: number; readonly cached: number },
  budget: number,
): Micros {
  const end = prompt.cached + prompt.tokens;
  let us = 0;
  for (let from = prompt.cached; from < end; from += budget) {
    const to = Math.min(from + budget, end);
    us += stepTime.stepUs({
      prefillTokens: to - from,
      prefillSeqs: 1,
      prefillQuadratic: to * to - from * from,
      prefillContext: from,
      decodeSeqs: 0,
      decodeContext: 0,
      kvUsage: 0,
    });
  }
  return us;
}
