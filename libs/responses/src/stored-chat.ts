import { isObject } from '@baton/kernel';
import { BOOLEAN, Is, OBJECT, validateBody, Within } from '@baton/openai';
import { metadataRange } from './responses.dto';

type Fields = Readonly<Record<string, unknown>>;

/** A chat completion as it is shown again: its answer, and what was asked of it. */
export interface ChatObject extends Fields {
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly created: number;
  readonly model: string;
  readonly metadata: Fields;
}

/** What is kept of a chat with `store`. */
export interface StoredChat {
  readonly completion: ChatObject;
  /** Those of the request, each with an id. */
  readonly messages: readonly (Fields & { readonly id: string })[];
  /** Of its arrival, so that chats of one second have an order. */
  readonly arrivedUs: number;
}

/** The fields of a chat that concern its storage. */
class StoringDto {
  @Is(BOOLEAN)
  store?: boolean | null;

  @Is(OBJECT)
  @Within(metadataRange)
  metadata?: Readonly<Record<string, string>> | null;
}

/** Fields that a stored chat has beside those of its answer, null where they are absent. */
const SHOWN = [
  ...['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'seed', 'tools'],
  ...['tool_choice', 'response_format', 'service_tier'],
];

/** Whether a chat is to be kept. */
export function isToBeStored(body: unknown): boolean {
  return isObject(body) && body['store'] === true;
}

/** Throws `BatonError` for metadata that cannot be kept. */
export function checkStoring(body: Fields): void {
  validateBody(new StoringDto(), body);
}

/**
 * A chat as it is kept.
 *
 * @param answer  the body that a client gets that does not stream, in OpenAI's shape
 */
export function storedChat(body: Fields, answer: string, arrivedUs: number): StoredChat {
  const completion = JSON.parse(answer) as ChatObject;
  const asked = SHOWN.map((name) => [name, completion[name] ?? body[name] ?? null]);
  const messages = Array.isArray(body['messages']) ? body['messages'].filter(isObject) : [];
  return {
    completion: {
      ...completion,
      request_id: completion.id,
      input_user: body['user'] ?? null,
      metadata: (body['metadata'] ?? {}) as Fields,
      ...(Object.fromEntries(asked) as Fields),
    },
    messages: messages.map((message, index) => shownMessage(message, `${completion.id}-${index}`)),
    arrivedUs,
  };
}

/** OpenAI shows parts beside the text, which is null where there are some. */
function shownMessage(message: Fields, id: string): Fields & { readonly id: string } {
  const { content } = message;
  const isParts = Array.isArray(content);
  return {
    id,
    name: null,
    ...message,
    content: isParts ? null : (content ?? null),
    content_parts: isParts ? content : null,
  };
}

export function withMetadata(stored: StoredChat, metadata: object): StoredChat {
  return { ...stored, completion: { ...stored.completion, metadata: metadata as Fields } };
}

/** What a list is made of. */
export interface ChatSummary {
  readonly id: string;
  readonly arrivedUs: number;
}

/** Whether a stored chat is of the model and has the metadata that a list asks for. */
export function isListed({ completion }: StoredChat, query: Fields): boolean {
  const { model } = query;
  if (typeof model === 'string' && model !== completion.model) return false;
  return Object.entries(query).every(([name, value]) => {
    const [, key] = /^metadata\[(.+)\]$/.exec(name) ?? [];
    return key === undefined || completion.metadata[key] === value;
  });
}
