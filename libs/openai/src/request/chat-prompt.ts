import { checkedBody } from '../body/checked-body';
import type { RequestLimits } from '../limits';
import { ChatCompletionRequest } from './chat.dto';
import { turnsOf } from './conversation';
import { conversationIds } from './conversation-ids';
import { openTurnOf } from '../turn/open-turn';
import { reasoningOf } from './reasoning';
import { toolUse } from './tool-offer';
import { refuseTemplate } from './unsupported';

/** Whether a body has messages. */
export function hasMessages(body: Readonly<Record<string, unknown>>): boolean {
  return body['messages'] !== undefined && body['messages'] !== null;
}

/**
 * The prompt of a conversation as chat completions compute it, of any length. Throws `BatonError`.
 */
export function chatPromptIds(
  body: Readonly<Record<string, unknown>>,
  limits: RequestLimits,
  opensAnswer: boolean,
): Int32Array {
  // The fields of its own endpoint stand beside those of a chat.
  const dto = checkedBody(ChatCompletionRequest, body, { ...limits, acceptsUnknownFields: true });
  refuseTemplate(body);
  const { definitions } = toolUse(dto, limits, openTurnOf(dto.messages));
  const turns = turnsOf(
    { messages: dto.messages, definitions, documents: dto.documents ?? [] },
    limits,
  );
  const continueFinalTurn = dto.continue_final_message ?? false;
  const addGenerationPrompt = dto.add_generation_prompt ?? (opensAnswer && !continueFinalTurn);
  const options = {
    addGenerationPrompt,
    thinks: reasoningOf(dto, limits) !== undefined,
    continueFinalTurn,
  };
  return conversationIds({ dto, turns, definitions }, options, limits);
}
