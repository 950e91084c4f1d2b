import type { EndReason } from '@baton/contract';
import type { OutputPlan } from '@baton/text';
import type { GenerationRequest } from '../generation-request';

/** The finish reason of an answer: the engine's end reason, or the kind of its calls. */
export type FinishReason = EndReason | 'tool_calls' | 'function_call';

export function finishReasonOf(
  { calls }: GenerationRequest,
  plan: OutputPlan,
  reason: EndReason,
): FinishReason {
  const hasCalls = plan.segments?.some(({ kind }) => kind === 'call') === true;
  return reason === 'stop' && hasCalls ? calls.finishReason : reason;
}
