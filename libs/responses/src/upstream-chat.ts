import { type Message, messagesOf } from './item-messages';
import { type Item, partTexts } from './items';
import type { ResponseDraft } from './parse-response';

type Fields = Readonly<Record<string, unknown>>;

/** Fields of vLLM that only the server of an answer reads. */
const SERVER_FIELDS = [
  ...['mm_processor_kwargs', 'skip_special_tokens', 'spaces_between_special_tokens'],
  ...['return_tokens_as_token_ids', 'vllm_xargs'],
];

interface ChatParts {
  /** The fields of the chat other than its messages. */
  readonly chat: Fields;
  readonly draft: ResponseDraft;
  /** The whole conversation. */
  readonly items: readonly Item[];
}

/**
 * Body of POST /v1/chat/completions with which an upstream server computes a response, as vLLM's
 * own Responses are computed. A background response is streamed, because clients may follow it.
 */
export function upstreamChat({ chat, draft, items }: ChatParts): Fields {
  const { dto, fields } = draft;
  const { tools, tool_choice, parallel_tool_calls, stream: _stream, ...others } = chat;
  const { instructions, reasoning } = dto;
  const isStreamed = dto.stream === true || dto.background === true;
  const system = instructions ? [{ role: 'system', content: instructions }] : [];
  return {
    ...Object.fromEntries(SERVER_FIELDS.map((name) => [name, fields[name]])),
    ...others,
    ...(tools === undefined ? {} : { tools, tool_choice, parallel_tool_calls }),
    ...(dto.truncation === 'auto' ? { truncate_prompt_tokens: -1 } : {}),
    reasoning_effort: reasoning?.effort ?? undefined,
    messages: [...system, ...wholeTurns(messagesOf(items).map(plainMessage))],
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

/** Reasoning, text and calls of one turn of the model are one message: templates require it. */
function wholeTurns(messages: readonly Message[]): Message[] {
  const turns: Message[] = [];
  let at = 0;
  while (at < messages.length) {
    const from = at;
    while (messages[at]?.['role'] === 'assistant') at += 1;
    if (at > from + 1) turns.push(oneTurn(messages.slice(from, at)));
    else turns.push(messages[from]!);
    at = Math.max(at, from + 1);
  }
  return turns;
}

function oneTurn(run: readonly Message[]): Message {
  const calls = run.flatMap(({ tool_calls: own }) => (own ?? []) as object[]);
  const text = run.flatMap(({ content }) => (content === '' ? [] : partTexts(content))).join('\n');
  const reasoning = run.flatMap(({ reasoning: own }) => own ?? []).join('\n');
  return {
    role: 'assistant',
    content: text,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** A message with content that every server of chats reads. */
function plainMessage(message: Message): Message {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const texts = partTexts(content);
  const isText = texts.length === content.length;
  return { ...message, content: isText ? texts.join('\n') : content.map(plainPart) };
}

function plainPart(part: Fields): Fields {
  const { type, image_url: url, detail } = part;
  if (type === 'input_image') return { type: 'image_url', image_url: { url, detail } };
  const [text] = partTexts([part]);
  return text === undefined ? part : { type: 'text', text };
}
