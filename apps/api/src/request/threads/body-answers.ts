import {
  countTokensBody,
  type RequestLimits,
  derenderChatBody,
  derenderCompletionBody,
  detokenizeBody,
  renderChatBody,
  renderCompletionBody,
  tokenizeBody,
} from '@baton/openai';
import {
  chatMessagesBody,
  newConversationBody,
  newItemsBody,
  responseLinksBody,
  storedConversationBody,
  storedResponseBody,
} from '@baton/responses';

/** Answers that are functions of a body, without an engine, by their names in threads. */
const BODY_ANSWERS = {
  tokenize: tokenizeBody,
  detokenize: detokenizeBody,
  'count-tokens': countTokensBody,
  'render-chat': renderChatBody,
  'render-completion': renderCompletionBody,
  'derender-chat': derenderChatBody,
  'derender-completion': derenderCompletionBody,
  'chat-messages': chatMessagesBody,
  'response-links': responseLinksBody,
  'stored-response': storedResponseBody,
  'new-conversation': newConversationBody,
  'new-items': newItemsBody,
  'stored-conversation': storedConversationBody,
} as const;

export type BodyAnswer = keyof typeof BODY_ANSWERS;

/** The inputs of an answer besides the body and the limits. */
export type AnswerExtra<Name extends BodyAnswer> = Parameters<(typeof BODY_ANSWERS)[Name]>[2];

/** The answer as JSON. Throws `BatonError`. */
export function bodyAnswer(
  name: BodyAnswer,
  body: unknown,
  { limits, extra }: { readonly limits: RequestLimits; readonly extra: unknown },
): string {
  const answer = BODY_ANSWERS[name] as (...parts: readonly unknown[]) => string;
  return answer(body, limits, extra);
}
