import { asciiJson } from '@baton/text';
import { chatPromptIds } from '../request/chat-prompt';
import { checkedBody } from '../body/checked-body';
import { servedModel } from '../request/parse-body';
import { onlySkipped, skippedTool } from '../request/hosted-tools';
import { parseChat } from '../request/parse-chat';
import { valueError } from '../refusal/request-error';
import type { GenerationRequest } from '../generation-request';
import type { RequestLimits } from '../limits';
import { chatMessages } from './chat-messages';
import { type AnthropicTool, CountTokensRequest, MessagesRequest } from './messages.dto';

type Fields = Readonly<Record<string, unknown>>;

/** vLLM's own fields with the same meaning as in a chat. */
const PASSED_ON = [
  'model',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'kv_transfer_params',
  'cache_salt',
  'priority',
  'request_id',
  'seed',
  'ignore_eos',
  'min_tokens',
] as const;

/** Anthropic's own limits, which vLLM does not have. */
const MAX_TEMPERATURE = 1;
const MIN_THINKING_BUDGET = 1024;

/**
 * Checks a body of POST /v1/messages and rewrites it as a chat, so that both endpoints answer
 * alike. Throws `BatonError` with the first error.
 */
export function parseMessages(body: unknown, limits: RequestLimits): GenerationRequest {
  const dto = checkedBody(MessagesRequest, body, limits);
  if (limits.dialect === 'openai') checkStrictly(dto);
  const passedOn = PASSED_ON.filter((name) => Object.hasOwn(dto, name));
  const { skippedTools, ...conversation } = conversationOf(dto, limits);
  const request = parseChat(
    {
      ...Object.fromEntries(passedOn.map((name) => [name, dto[name]])),
      ...conversation,
      ...continuation(dto, limits),
      ...outputOf(dto),
      ...thinkingOf(dto, limits),
      stop: dto.stop_sequences,
      user: dto.metadata?.user_id,
    },
    limits,
  );
  return skippedTools.length === 0 ? request : { ...request, skippedTools };
}

/** The answer of POST /v1/messages/count_tokens. Throws `BatonError`. */
export function countTokensBody(body: unknown, limits: RequestLimits): string {
  const dto = checkedBody(CountTokensRequest, body, limits);
  servedModel(dto.model, limits);
  const { skippedTools: _skipped, ...conversation } = conversationOf(dto, limits);
  const requested = { ...conversation, ...thinkingOf(dto, limits) };
  const tokens = chatPromptIds(requested, limits, true).length;
  const edits = { context_management: { original_input_tokens: tokens } };
  return asciiJson({ input_tokens: tokens, ...(limits.dialect === 'vllm' ? edits : {}) });
}

interface Conversation extends Fields {
  /** Types of tools that only Anthropic runs. */
  readonly skippedTools: readonly string[];
}

function conversationOf(
  dto: CountTokensRequest,
  { unsupportedTools }: RequestLimits,
): Conversation {
  const messages = chatMessages(dto);
  const tools: Fields[] = [];
  const skippedTools: string[] = [];
  (dto.tools ?? []).forEach((tool, at) => {
    const { type } = tool;
    if (isOwn(tool)) tools.push(chatTool(tool));
    else skippedTools.push(skippedTool(String(type), `tools.${at}`, unsupportedTools));
  });
  if (tools.length > 0) return { messages, tools, ...choiceOf(dto), skippedTools };
  const choice = dto.tool_choice?.type;
  if (skippedTools.length > 0 && (choice === 'any' || choice === 'tool')) {
    throw onlySkipped(skippedTools);
  }
  return { messages, skippedTools };
}

/** A tool that the client runs. */
function isOwn({ type }: AnthropicTool): boolean {
  return type === undefined || type === null || type === 'custom';
}

function chatTool({ name, description, input_schema, strict }: AnthropicTool): Fields {
  const described = { name, description, parameters: input_schema, strict };
  return { type: 'function', function: described };
}

function choiceOf({ tool_choice: choice }: CountTokensRequest): Fields {
  if (choice === undefined || choice === null) return {};
  const parallel_tool_calls = choice.disable_parallel_tool_use !== true;
  switch (choice.type) {
    case 'any':
      return { tool_choice: 'required', parallel_tool_calls };
    case 'tool':
      return { tool_choice: { type: 'function', function: { name: choice.name } } };
    default:
      return { tool_choice: choice.type, parallel_tool_calls };
  }
}

/**
 * The fields for a conversation that ends with the assistant's text: Anthropic continues that text,
 * vLLM answers it.
 */
function continuation({ messages }: MessagesRequest, { dialect }: RequestLimits): Fields {
  const last = messages.at(-1);
  const isOpen =
    last?.role === 'assistant' &&
    (typeof last.content === 'string' || last.content.every(({ type }) => type === 'text'));
  return dialect === 'openai' && isOpen
    ? { continue_final_message: true, add_generation_prompt: false }
    : {};
}

function outputOf({ output_config: output }: MessagesRequest): Fields {
  const schema = output?.format?.schema;
  return {
    ...(output?.effort ? { reasoning_effort: output.effort } : {}),
    ...(schema
      ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }
      : {}),
  };
}

/**
 * The fields of reasoning. Anthropic's models reason on request; vLLM's reason unless the request
 * turns it off.
 */
function thinkingOf({ thinking }: CountTokensRequest, { dialect }: RequestLimits): Fields {
  const isOff = thinking?.type === 'disabled' || (!thinking && dialect === 'openai');
  if (isOff) return { chat_template_kwargs: { enable_thinking: false } };
  return { thinking_token_budget: thinking?.budget_tokens ?? undefined };
}

function checkStrictly({ temperature, thinking, max_tokens }: MessagesRequest): void {
  if (typeof temperature === 'number' && (temperature < 0 || temperature > MAX_TEMPERATURE)) {
    throw valueError({ field: 'temperature', message: 'temperature: range: 0..1' });
  }
  if (thinking?.type !== 'enabled') return;
  const field = 'thinking.budget_tokens';
  const budget = thinking.budget_tokens ?? 0;
  if (budget < MIN_THINKING_BUDGET) {
    const message = `${field}: Input should be greater than or equal to ${MIN_THINKING_BUDGET}`;
    throw valueError({ field, message });
  }
  if (budget >= max_tokens) {
    throw valueError({
      field,
      message: '`max_tokens` must be greater than `thinking.budget_tokens`',
    });
  }
}
