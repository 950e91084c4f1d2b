import type { Micros } from '@baton/kernel';
import type { StepTimeModel } from '@baton/step-time';
import type { EngineView, PlacementContext } from './policy';

/**
 * Prompt tokens of a full step, by which a queue of unknown prompts is timed: vLLM's default
 * `max_num_batched_tokens`.
 */
const QUEUE_STEP_TOKENS = 8_192;

/**
 * How long a prompt of `tokens` takes alone behind `cached` tokens, in chunks of at most `budget`
 * tokens a step. µs; time O(tokens / budget).
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

/**
 * `T_queue + T_prefill(len, own prefix)` of Mooncake's Conductor (FAST'25, algorithm 1), in µs:
 * from now until this engine would have computed the prompt, if it were sent there.
 *
 * @param sharedTokens prompt tokens that wait before this request in no engine's own queue, this
 *   engine's share of them
 */
export function estimateTtftUs(
  context: PlacementContext,
  engine: EngineView,
  sharedTokens = 0,
): Micros {
  const { promptTokens } = context.request;
  const cached = Math.min(context.cachedTokens(engine), promptTokens - 1);
  const own = context.prefillUs(engine, promptTokens - cached, cached);
  return queueUs(context, engine, engine.waitingTokens + sharedTokens) + own;
}

/**
 * Prompts that wait are computed together, so their time is that of full steps and the share of one
 * that is left. Their own lengths are not known here; a step counts as one prompt of its length,
 * which overstates attention a little.
 */
function queueUs(context: PlacementContext, engine: EngineView, tokens: number): Micros {
  if (tokens <= 0) return 0;
  const step = Math.min(tokens, QUEUE_STEP_TOKENS);
  return (tokens / step) * context.prefillUs(engine, step, 0);
}
