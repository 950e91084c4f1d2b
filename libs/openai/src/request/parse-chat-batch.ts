import { valueError } from '../refusal/request-error';
import type { GenerationRequest } from '../generation-request';
import type { RequestLimits } from '../limits';
import { PromptTotal } from './context-length';
import { objectBody } from './parse-body';
import { parseChat } from './parse-chat';
import { Is, validateBody } from './rules';
import { arrayOf, OBJECT } from './shapes';

/** Most conversations, equal to the most prompts of a completion. */
const MAX_CONVERSATIONS = 1024;

export class ChatBatchDto {
  @Is(arrayOf(arrayOf(OBJECT), MAX_CONVERSATIONS), { isRequired: true })
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
  const fields = objectBody(body);
  const { messages } = validateBody(new ChatBatchDto(), fields);
  if (messages.length === 0) {
    throw valueError({
      field: 'messages',
      message: 'messages must have at least one conversation.',
    });
  }
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
