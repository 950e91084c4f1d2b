import type { EndReason } from '@baton/contract';
import { segmentText } from '@baton/text';
import { reasoningTokens, type AnswerHead } from '@baton/openai';
import type { ResponseRequest } from './parse-response';
import { type OutputPart, outputParts, type ResponseContext } from './response-context';
import type { ResponseFailure } from './response-error';
import type { OutputItem } from './response-events';
import { sealText } from './sealed-text';

export type ResponseStatus =
  'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** The Response object as sent to clients. Fields that the store reads are typed. */
export type ResponseObject = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly status: ResponseStatus;
  readonly background: boolean;
  readonly error: ResponseFailure | null;
  readonly output: readonly OutputItem[];
};

/** The status of a response. */
export interface ResponseState {
  readonly status: ResponseStatus;
  readonly output: readonly OutputItem[];
  /** Seconds since the Unix epoch. Null until the response has ended. */
  readonly completedAt: number | null;
  readonly usage: object | null;
  readonly error: ResponseFailure | null;
}

export const STARTED: ResponseState = {
  status: 'in_progress',
  output: [],
  completedAt: null,
  usage: null,
  error: null,
};

/** The Response object with every key of OpenAI and Open Responses. */
export function responseObject(
  request: ResponseRequest,
  head: Pick<AnswerHead, 'id' | 'created' | 'model'>,
  state: ResponseState,
): ResponseObject {
  const { dto, conversationId } = request;
  const isIncomplete = state.status === 'incomplete';
  return {
    id: head.id,
    object: 'response',
    created_at: head.created,
    status: state.status,
    background: dto.background ?? false,
    completed_at: state.completedAt,
    error: state.error,
    frequency_penalty: dto.frequency_penalty ?? 0,
    incomplete_details: isIncomplete ? { reason: 'max_output_tokens' } : null,
    instructions: dto.instructions ?? null,
    max_output_tokens: dto.max_output_tokens ?? null,
    max_tool_calls: dto.max_tool_calls ?? null,
    model: head.model,
    output: state.output,
    parallel_tool_calls: dto.parallel_tool_calls ?? true,
    presence_penalty: dto.presence_penalty ?? 0,
    previous_response_id: request.previousResponseId ?? null,
    prompt_cache_key: dto.prompt_cache_key ?? null,
    reasoning: { effort: dto.reasoning?.effort ?? null, summary: dto.reasoning?.summary ?? null },
    safety_identifier: dto.safety_identifier ?? null,
    service_tier: request.generation.serviceTier ?? 'default',
    store: request.isStored,
    temperature: dto.temperature ?? 1,
    text: {
      format: formatOf(request.format),
      ...(dto.text?.verbosity == null ? {} : { verbosity: dto.text.verbosity }),
    },
    tool_choice: dto.tool_choice ?? 'auto',
    tools: (dto.tools ?? []).map(toolOf),
    top_logprobs: dto.top_logprobs ?? 0,
    top_p: dto.top_p ?? 1,
    truncation: dto.truncation ?? 'disabled',
    usage: state.usage,
    metadata: dto.metadata ?? {},
    ...(conversationId === undefined ? {} : { conversation: { id: conversationId } }),
    ...(dto.user == null ? {} : { user: dto.user }),
  };
}

/** The text format with all keys: clients require keys that requests may omit. */
function formatOf(format: object): object {
  const { type } = format as { type?: unknown };
  return type === 'json_schema' ? { description: null, strict: null, ...format } : format;
}

function toolOf(tool: Readonly<Record<string, unknown>>): object {
  if (tool['type'] !== 'function') return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

/** The end of the generation of a response. */
export interface ResponseEnd {
  readonly reason: EndReason;
  readonly count: number;
  readonly cachedTokens: number;
}

/** The status of a response whose generation has ended for this reason. */
export function statusAfter(reason: EndReason): ResponseStatus {
  return reason === 'length' ? 'incomplete' : reason === 'abort' ? 'cancelled' : 'completed';
}

/** The state of a response whose generation has ended. */
export function endState(
  context: ResponseContext,
  { reason, count, cachedTokens }: ResponseEnd,
  nowSeconds: number,
): ResponseState {
  const status = statusAfter(reason);
  return {
    status,
    output: outputItems(context, count, status === 'completed'),
    completedAt: status === 'completed' ? nowSeconds : null,
    usage: usageOf(context, count, cachedTokens),
    error: null,
  };
}

/** The state of a response that failed after `count` tokens. Its open item stays incomplete. */
export function failedState(
  context: ResponseContext,
  count: number,
  error: ResponseFailure,
): ResponseState {
  const output = outputItems(context, count, false).map((item) =>
    item['status'] === 'incomplete' ? { ...item, status: 'in_progress' } : item,
  );
  return { ...STARTED, status: 'failed', output, error };
}

/** The output items of the first `count` tokens. */
export function outputItems(
  context: ResponseContext,
  count: number,
  isWhole: boolean,
): OutputItem[] {
  const parts = outputParts(context).filter((part) => isOpened(part, count));
  return parts.map((part, i) => {
    const isLast = i + 1 === parts.length;
    return itemOf(context, part, {
      count,
      status: isWhole || !isLast ? 'completed' : 'incomplete',
    });
  });
}

/**
 * Whether an item is present: a call from the last token of its name, other items from their first
 * token.
 */
export function isOpened({ kind, opening }: OutputPart, count: number): boolean {
  const isCall = kind === 'function_call' || kind === 'custom_tool_call';
  return isCall ? count >= opening.to : count > opening.from || opening.from === opening.to;
}

/** One item after `count` tokens, without log-probabilities. */
export function itemOf(
  context: ResponseContext,
  part: OutputPart,
  { count, status }: { readonly count: number; readonly status: string },
): OutputItem {
  const { text: segment } = part;
  const { request, plan, options } = context;
  const text =
    segment === undefined ? '' : segmentText(options.tokenizer, { plan, segment, count });
  return outputItem(request, { ...part, text, status, logprobs: [], isRefusal: request.isRefused });
}

/** An output item and its text so far. */
export interface ItemFacts extends Pick<OutputPart, 'kind' | 'id' | 'callId' | 'name'> {
  readonly text: string;
  readonly status: string;
  /** Log-probabilities of the text of a message. */
  readonly logprobs: readonly unknown[];
  readonly isRefusal: boolean;
}

export function outputItem(
  request: ResponseRequest,
  { id, kind, callId: call_id, name, text, status, logprobs, isRefusal }: ItemFacts,
): OutputItem {
  switch (kind) {
    case 'message': {
      const content = isRefusal
        ? [{ type: 'refusal', refusal: text }]
        : [{ type: 'output_text', annotations: [], logprobs, text }];
      return { id, type: kind, status, role: 'assistant', content };
    }
    case 'reasoning': {
      const content = [{ type: 'reasoning_text', text }];
      return { id, type: kind, status, summary: [], content, ...sealed(request, text) };
    }
    case 'function_call':
      return { id, type: kind, status, call_id, name, arguments: text };
    case 'custom_tool_call':
      return { id, type: kind, status, call_id, name, input: text };
  }
}

/** Sealed reasoning, which a client without a store sends back. */
function sealed({ dto }: ResponseRequest, text: string): object {
  const isRequested = dto.include?.includes('reasoning.encrypted_content') === true;
  return isRequested ? { encrypted_content: sealText(text) } : {};
}

export function usageOf({ request, plan }: ResponseContext, count: number, cached: number): object {
  const [prompt] = request.generation.prompts;
  const input = prompt?.ids.length ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: count,
    output_tokens_details: { reasoning_tokens: reasoningTokens(plan, count) },
    total_tokens: input + count,
  };
}
