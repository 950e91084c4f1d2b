import { BatonError } from '@baton/contract';
import { hashString, isObject, unitOf } from '@baton/kernel';
import {
  type GenerationRequest,
  type RequestLimits,
  checkedBody,
  declaredPart,
  executedRequest,
  outside,
  parseChat,
  unsupported,
  valueError,
} from '@baton/openai';
import { checkCallIds, messagesOf } from './item-messages';
import { type Item, readItems } from './items';
import { checkRepeated } from './repeated-fields';
import { asResponseError } from './response-error';
import { chatTools } from './response-tools';
import { upstreamChat } from './upstream-chat';
import { CHAT_FIELDS, CreateResponse } from './responses.dto';

type Fields = Readonly<Record<string, unknown>>;

/** Minimum of `max_output_tokens` in OpenAI's API reference. */
const MIN_OUTPUT_TOKENS = 16;

/** Fields of other endpoints that a response cannot fulfil. */
const ONE_ANSWER = ['n', 'best_of', 'echo'];

/** A checked request, possibly still without its context. */
export interface ResponseDraft {
  readonly dto: CreateResponse;
  readonly fields: Fields;
  /** Items of the request itself. */
  readonly own: readonly Item[];
  /** The response that it continues. */
  readonly previousResponseId: string | undefined;
  readonly conversationId: string | undefined;
}

export interface ResponseRequest {
  readonly generation: GenerationRequest;
  readonly dto: CreateResponse;
  readonly previousResponseId: string | undefined;
  readonly conversationId: string | undefined;
  readonly isStored: boolean;
  /** Types of tools that are ignored. */
  readonly skippedTools: readonly string[];
  /** The value of `text.format`, repeated in the answer. */
  readonly format: object;
  /** Whether the model declines to answer: a refusal replaces the requested output. */
  readonly isRefused: boolean;
}

/** A request with its whole conversation, which may be long. */
export interface WholeRequest extends ResponseRequest {
  readonly own: readonly Item[];
  /** The whole conversation: the items that it continues, then `own`. */
  readonly items: readonly Item[];
  /** Body of the chat completion for upstream servers, as JSON. Undefined without them. */
  readonly upstream: string | undefined;
}

/**
 * Reads a body of POST /v1/responses without its context. Throws `BatonError` with the first error.
 */
export function readResponse(
  body: unknown,
  newId: (prefix: string) => string,
  limits: Pick<RequestLimits, 'dialect' | 'acceptsUnknownFields'>,
): ResponseDraft {
  const fields = checkedBody(CreateResponse, body, limits);
  const dto = declaredPart(CreateResponse, fields);
  if (isObject(fields['prompt'])) throw unsupported('prompt');
  for (const name of ONE_ANSWER) if (Object.hasOwn(fields, name)) checkOne(name, fields[name]);
  const { conversation } = dto;
  const conversationId = isObject(conversation) ? conversation['id'] : conversation;
  return {
    dto,
    fields,
    own: readItems(dto.input, newId),
    previousResponseId: dto.previous_response_id ?? undefined,
    conversationId: typeof conversationId === 'string' ? conversationId : undefined,
  };
}

export interface ResponseLimits extends RequestLimits {
  /** Chance, in [0, 1], that the model declines to answer. Default: 0. */
  readonly refusalProbability?: number;
  /** The part of upstream servers. Default: none. */
  readonly upstream?: UpstreamPart | undefined;
}

/** Upstream servers compute the whole answer, or only the prompt. */
export type UpstreamPart = 'answer' | 'prompt';

/**
 * The cluster's request for a response. Its conversation becomes a chat, so that both endpoints
 * answer alike. `context`: the items before its own. Throws `BatonError` with field names of the
 * Responses API.
 */
export function parseResponse(
  draft: ResponseDraft,
  context: readonly Item[],
  limits: ResponseLimits,
): WholeRequest {
  const { dto, fields, own } = draft;
  const items = [...context, ...own];
  checkCallIds(items, own);
  checkOutputLimit(dto, limits);
  checkRepeated(dto);
  const wanted = chatTools(dto.tools ?? [], dto.tool_choice, limits.unsupportedTools ?? 'skip');
  const passedOn = CHAT_FIELDS.filter((name) => Object.hasOwn(fields, name));
  const chat = {
    ...Object.fromEntries(passedOn.map((name) => [name, fields[name]])),
    ...(wanted.tools.length === 0 ? {} : { tools: wanted.tools }),
    tool_choice: wanted.toolChoice,
    max_completion_tokens: dto.max_output_tokens,
    ...(dto.top_p === 0 ? {} : { top_p: dto.top_p }),
    reasoning_effort: dto.reasoning?.effort ?? 'none',
    response_format: chatFormat(dto),
    ...logprobFields(dto),
    ...(dto.stream === true ? { stream_options: { include_usage: true } } : {}),
    user: dto.user,
  };
  try {
    const sent = limits.upstream && upstreamChat({ chat, draft, items });
    const whole =
      limits.upstream === 'answer'
        ? { ...executedRequest('chat', sent, limits), stream: dto.stream === true }
        : fitting(chat, dto, { items, limits });
    const isRefused = declines(whole, limits);
    const tools = boundedTools(whole.tools, dto.max_tool_calls ?? undefined);
    return {
      generation: isRefused
        ? { ...whole, tools: undefined, constraint: undefined }
        : { ...whole, tools },
      dto,
      own,
      items,
      upstream: sent && JSON.stringify(sent),
      previousResponseId: draft.previousResponseId,
      conversationId: draft.conversationId,
      isStored: dto.store ?? true,
      skippedTools: wanted.skipped,
      format: dto.text?.format ?? { type: 'text' },
      isRefused,
    };
  } catch (error) {
    throw asResponseError(error, wanted.indexes);
  }
}

/** With `truncation: auto`, drops items from the start until the rest fits. */
function fitting(
  chat: object,
  dto: CreateResponse,
  { items, limits }: { readonly items: readonly Item[]; readonly limits: RequestLimits },
): GenerationRequest {
  let rest = items;
  for (;;) {
    try {
      const system = dto.instructions ? [{ role: 'system', content: dto.instructions }] : [];
      const turns = messagesOf(rest);
      const own = turns.length === 0 ? [{ role: 'user', content: '' }] : turns;
      const messages = [...system, ...own];
      // The fields of the client are checked already, and tools have more of them here.
      const asChat = { ...limits, dialect: 'openai', acceptsUnknownFields: true } as const;
      return parseChat({ ...chat, messages }, asChat);
    } catch (error) {
      const isTooLong = error instanceof BatonError && error.code === 'context_length_exceeded';
      if (!isTooLong || dto.truncation !== 'auto' || rest.length < 2) throw error;
      rest = rest.slice(Math.max(1, Math.floor(rest.length / 4)));
    }
  }
}

/** Checks OpenAI's minimum. vLLM has none; the general check of limits applies there. */
function checkOutputLimit(
  { max_output_tokens: most }: CreateResponse,
  limits: RequestLimits,
): void {
  const isTooFew = most !== undefined && most !== null && most < MIN_OUTPUT_TOKENS;
  if (limits.dialect !== 'openai' || !isTooFew) return;
  const field = 'max_output_tokens';
  const message = `${field} must be at least ${MIN_OUTPUT_TOKENS}, got ${most}.`;
  const beyond = outside('integer', most, [MIN_OUTPUT_TOKENS, Infinity]);
  throw valueError({ field, message, beyond });
}

function boundedTools(
  tools: GenerationRequest['tools'],
  maxCalls: number | undefined,
): GenerationRequest['tools'] {
  return tools === undefined || maxCalls === undefined ? tools : { ...tools, maxCalls };
}

function chatFormat({ text }: CreateResponse): object | undefined {
  const format = text?.format;
  if (format === undefined || format === null) return undefined;
  const { type, name, schema, strict } = format;
  return type === 'json_schema' ? { type, json_schema: { name, schema, strict } } : { type };
}

function logprobFields({ include, top_logprobs: top }: CreateResponse): object {
  const isRequested = include?.includes('message.output_text.logprobs') === true;
  return isRequested ? { logprobs: true, top_logprobs: top ?? 0 } : {};
}

/** Refuses a value other than one, since a response has one answer. */
function checkOne(name: string, value: unknown): void {
  if (value !== null && value !== 1 && value !== false) throw unsupported(name);
}

/** Whether the model declines, drawn from the prompt and the seed like the rest of the answer. */
function declines(
  { prompts: [prompt], seed }: GenerationRequest,
  { refusalProbability: probability = 0, upstream }: ResponseLimits,
): boolean {
  if (probability === 0 || upstream === 'answer' || prompt === undefined) return false;
  const hash = hashString(`refusal ${seed ?? ''} ${prompt.ids.join(',')}`);
  return unitOf(hash) < probability;
}
