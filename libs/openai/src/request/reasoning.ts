import { valueError } from '../refusal/request-error';
import type { ReasoningRequest } from '../generation-request';
import type { RequestLimits } from '../limits';
import type { ChatCompletionRequest } from './chat.dto';

/** Factor on the length of the reasoning, by effort. */
const EFFORTS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 0.125,
  low: 0.4,
  medium: 1,
  high: 2.5,
  xhigh: 4,
  max: 6,
};

/** Arguments of chat templates that switch reasoning off. */
const TEMPLATE_SWITCHES = ['enable_thinking', 'thinking'];

/**
 * The reasoning before an answer. Undefined: the model does not reason, or the request turns it
 * off.
 */
export function reasoningOf(
  dto: ChatCompletionRequest,
  limits: RequestLimits,
): ReasoningRequest | undefined {
  const effort = effortOf(dto.reasoning_effort ?? 'medium');
  const budget = dto.thinking_token_budget ?? -1;
  const maxTokens = budget === -1 ? Infinity : budget;
  const isOff = TEMPLATE_SWITCHES.some((name) => dto.chat_template_kwargs?.[name] === false);
  if (limits.isReasoning !== true || effort === 0 || maxTokens === 0 || isOff) return undefined;
  return { effort, maxTokens, isShown: dto.include_reasoning ?? true };
}

function effortOf(name: string): number {
  const effort = Object.hasOwn(EFFORTS, name) ? EFFORTS[name] : undefined;
  if (effort !== undefined) return effort;
  const names = Object.keys(EFFORTS).map((one) => `'${one}'`);
  const message =
    `reasoning_effort must be one of ${names.join(', ')}, got ` + `'${name.slice(0, 100)}'.`;
  throw valueError({ field: 'reasoning_effort', message });
}
