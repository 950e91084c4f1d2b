import { isObject } from '@baton/kernel';
import { checkedBody, Holds, type RequestLimits } from '@baton/openai';
import { asciiJson } from '@baton/text';
import { IsBoolean, IsObject } from 'class-validator';
import { metadataRange } from './responses.dto';
import { listBody, pageOf } from './stored-response';

type Fields = Readonly<Record<string, unknown>>;

/** The facts of a stored chat that a list needs. */
export interface ChatHead {
  readonly id: string;
  /** Time of arrival, in microseconds, so that chats of one second have an order. */
  readonly arrivedUs: number;
  readonly model: string;
  readonly metadata: Fields;
}

/** The fields of a chat that control its storage. */
class StoringFields {
  @IsBoolean() store?: boolean | null;
  @Holds(metadataRange) @IsObject() metadata?: Readonly<Record<string, string>> | null;
}

/** Fields of a stored chat beyond those of its answer; null where absent. */
const SHOWN = [
  ...['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'seed', 'tools'],
  ...['tool_choice', 'response_format', 'service_tier'],
];

/** Whether a chat is to be stored. */
export function isToBeStored(body: unknown): boolean {
  return isObject(body) && body['store'] === true;
}

/** Throws `BatonError` for invalid metadata. */
export function checkStoring(body: Fields): void {
  // Metadata is OpenAI's in both dialects; the other fields are checked with the chat.
  checkedBody(StoringFields, { ...body }, { dialect: 'vllm' });
}

/**
 * A chat as stored: one line each for its head, its completion without the metadata, and its
 * messages. All are ASCII JSON, so a reader finds the lines without parsing.
 *
 * @param answer the body of an answer that is not streamed, in OpenAI's shape
 */
export function storedChat(body: Fields, answer: string, arrivedUs: number): string {
  const completion = JSON.parse(answer) as Fields & { readonly id: string };
  const { id, model } = completion;
  const requested = SHOWN.map((name) => [name, completion[name] ?? body[name] ?? null]);
  const shown = {
    ...completion,
    request_id: id,
    input_user: body['user'] ?? null,
    ...(Object.fromEntries(requested) as Fields),
  };
  const messages = Array.isArray(body['messages']) ? body['messages'].filter(isObject) : [];
  const named = messages.map((message, index) => shownMessage(message, `${id}-${index}`));
  const head = { id, arrivedUs, model, metadata: body['metadata'] ?? {} };
  return [head, shown, named].map(asciiJson).join('\n');
}

/**
 * A message in OpenAI's stored form: parts have a field of their own, and the text is then null.
 */
function shownMessage(message: Fields, id: string): Fields {
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

/** @param head the first line of a stored chat, or more of the chat */
export function chatHead(head: string): ChatHead {
  return JSON.parse(head.split('\n', 1)[0] ?? '') as ChatHead;
}

/** The stored chat completion, as JSON. */
export function chatObject(stored: string): string {
  const [, shown = ''] = stored.split('\n');
  return `${shown.slice(0, -1)},"metadata":${asciiJson(chatHead(stored).metadata)}}`;
}

/** The messages of its request, each with an id, as a JSON list. */
export function storedChatMessages(stored: string): string {
  return stored.slice(stored.lastIndexOf('\n') + 1);
}

/** One page of the messages of a stored chat. */
export function chatMessagesBody(messages: unknown, _limits: RequestLimits, query: Fields): string {
  return listBody(
    pageOf(messages as readonly { readonly id: string }[], { order: 'asc', ...query }),
  );
}

/** A stored chat with new metadata. */
export function withMetadata(stored: string, metadata: object): string {
  const head = { ...chatHead(stored), metadata };
  return `${asciiJson(head)}${stored.slice(stored.indexOf('\n'))}`;
}

/** Whether a stored chat has the model and the metadata of a list's query. */
export function isListed(head: ChatHead, query: Fields): boolean {
  const { model } = query;
  if (typeof model === 'string' && model !== head.model) return false;
  return Object.entries(query).every(([name, value]) => {
    const [, key] = /^metadata\[(.+)\]$/.exec(name) ?? [];
    return key === undefined || head.metadata[key] === value;
  });
}
