import { isObject } from '@baton/kernel';
import { ArrayMaxSize, ArrayMinSize, IsDefined } from 'class-validator';
import { checkedBody } from '../body/checked-body';
import { BY_SCHEMA, Is, type OwnType } from '../body/declare';
import { wrongItem } from '../body/types';
import { valueError } from '../refusal/request-error';
import type { GenerationRequest } from '../generation-request';
import type { RequestLimits } from '../limits';
import { PromptTotal } from './context-length';
import { parseChat } from './parse-chat';

/** Most conversations, equal to the most prompts of a completion. */
const MAX_CONVERSATIONS = 1024;

const isConversation = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);

const CONVERSATIONS: OwnType = {
  expected: 'an array of arrays of objects',
  schema: { type: 'array', items: { type: 'array', items: { type: 'object' } } },
  fits: (value) => Array.isArray(value) && value.every(isConversation),
  wrongIn: (value) => wrongItem(value, { expected: 'an array of objects', fits: isConversation }),
};

export class ChatCompletionBatchRequest {
  @IsDefined()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_CONVERSATIONS, BY_SCHEMA)
  @Is(CONVERSATIONS)
  messages!: readonly (readonly object[])[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields that are refused because one answer for several conversations cannot have them. */
const REFUSED: readonly (readonly [field: string, isGiven: (value: unknown) => boolean])[] = [
  ['stream', (value) => value === true],
  ['n', (value) => typeof value === 'number' && value > 1],
  ['tools', (value) => Array.isArray(value) && value.length > 0],
  ['functions', (value) => Array.isArray(value) && value.length > 0],
  ['use_beam_search', (value) => value === true],
];

/**
 * Checks a body of vLLM's POST /v1/chat/completions/batch. `messages` holds several conversations,
 * all other fields apply to each, and choice `i` answers conversation `i`. Throws `BatonError` with
 * the first error.
 */
export function parseChatBatch(body: unknown, limits: RequestLimits): GenerationRequest {
  const fields = checkedBody(ChatCompletionBatchRequest, body, limits);
  const { messages } = fields;
  refuse(fields);
  const total = new PromptTotal(limits);
  const chats = messages.map((one) => {
    const chat = parseChat({ ...fields, messages: one }, limits);
    for (const prompt of chat.prompts) total.add(prompt);
    return chat;
  });
  const [first] = chats as [GenerationRequest];
  return { ...first, prompts: chats.flatMap(({ prompts }) => prompts) };
}

function refuse(fields: Fields): void {
  const refused = REFUSED.find(([field, isGiven]) => isGiven(fields[field]));
  if (refused === undefined) return;
  const [field] = refused;
  throw valueError({
    field,
    message: `\`${field}\` is not supported for batch chat completions.`,
    named: true,
  });
}
