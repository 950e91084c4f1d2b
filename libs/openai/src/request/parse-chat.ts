import { checkedBody } from '../body/checked-body';
import type {
  GenerationRequest,
  Prompt,
  ReasoningRequest,
  SaidMessage,
} from '../generation-request';
import type { RequestLimits } from '../limits';
import { ChatCompletionRequest } from './chat.dto';
import { ContentReader, plainText } from './content-parts';
import { ContextLength, type OutputLimit } from './context-length';
import { turnsOf } from './conversation';
import { conversationIds, type ReadConversation } from './conversation-ids';
import { checkMessages } from '../turn/message-rules';
import { openTurnOf } from '../turn/open-turn';
import { servedModel } from './parse-body';
import { reasoningOf } from './reasoning';
import { checkLogprobs, checkMinTokens, samplingPart } from './sampling-request';
import { checkStrictly } from './strict';
import { NO_TOOLS, type ToolUse, toolUse } from './tool-offer';
import { Truncation } from './truncation';
import { refuseTemplate, refuseUnsupported } from './unsupported';

/** Checks a body of POST /v1/chat/completions. Throws `BatonError` with the first error. */
export function parseChat(body: unknown, limits: RequestLimits): GenerationRequest {
  const dto = checkedBody(ChatCompletionRequest, body, limits);
  if (limits.strict !== undefined) checkStrictly(dto, limits.strict);
  checkMessages(dto.messages, limits);
  refuseUnsupported(dto);
  refuseTemplate(dto);
  const model = servedModel(dto.model, limits);
  const part = samplingPart(dto, limits);
  const logprobs = dto.logprobs === true ? (dto.top_logprobs ?? 0) : undefined;
  if (logprobs !== undefined) {
    checkLogprobs({ field: 'top_logprobs', kind: 'sample', count: logprobs }, limits);
  }
  if (typeof dto.prompt_logprobs === 'number') {
    checkLogprobs({ field: 'prompt_logprobs', kind: 'prompt', count: dto.prompt_logprobs }, limits);
  }
  const tools = toolsIn(dto, limits);
  const documents = dto.documents ?? [];
  const { definitions } = tools;
  const turns = turnsOf({ messages: dto.messages, definitions, documents }, limits);
  return {
    endpoint: 'chat',
    model,
    prompts: [promptOf({ dto, turns, definitions }, limits)],
    choices: part.shownChoices,
    tools: tools.offer,
    calls: tools.shape,
    reasoning: reasoningIn(dto, limits),
    logprobs,
    promptLogprobs: dto.prompt_logprobs ?? undefined,
    returnPromptText: dto.return_prompt_text ?? false,
    ...part,
  };
}

function toolsIn(dto: ChatCompletionRequest, limits: RequestLimits): ToolUse {
  const given = dto.tools ?? dto.functions ?? dto.tool_choice ?? dto.function_call;
  return given === undefined || given === null
    ? NO_TOOLS
    : toolUse(dto, limits, openTurnOf(dto.messages));
}

/** The reasoning fields are checked even when the model does not reason. */
function reasoningIn(
  dto: ChatCompletionRequest,
  limits: RequestLimits,
): ReasoningRequest | undefined {
  const effort = dto.reasoning_effort ?? undefined;
  if (limits.isReasoning !== true && effort === undefined) return undefined;
  return reasoningOf(dto, limits);
}

function promptOf(conversation: ReadConversation, limits: RequestLimits): Prompt {
  const { dto, turns } = conversation;
  const output = outputLimit(dto);
  const context = new ContextLength(limits, output);
  const isCut = (dto.truncate_prompt_tokens ?? undefined) !== undefined;
  const truncation = isCut ? new Truncation(dto, limits) : undefined;
  let characters = 0;
  for (const { content } of turns) characters += plainText(content).length;
  if (truncation === undefined) context.checkText(characters);
  const most = truncation === undefined ? context.maxInputTokens : Infinity;
  const continueFinalTurn = dto.continue_final_message ?? false;
  const addGenerationPrompt = dto.add_generation_prompt ?? !continueFinalTurn;
  const options = {
    addGenerationPrompt,
    thinks: reasoningIn(dto, limits) !== undefined,
    continueFinalTurn,
    limit: most,
  };
  const whole = conversationIds(conversation, options, limits);
  const ids = truncation?.ofIds(whole) ?? whole;
  const maxTokens = context.room({ tokens: ids.length, isAtLeast: ids.length > most });
  checkMinTokens(dto.min_tokens ?? 0, maxTokens);
  if (output.maxTokens !== undefined) context.checkCapacity(ids.length + maxTokens);
  else context.checkCapacity(ids.length + 1);
  const echoText = dto.echo === true ? echoOf(dto, addGenerationPrompt, limits) : undefined;
  return {
    ids,
    echoText,
    // A limit that the client did not set is reduced to the KV cache of an engine.
    maxTokens: Math.min(maxTokens, (limits.kvCapacityTokens ?? Infinity) - ids.length),
    hidesOutput: false,
    ...(limits.keepsText === true ? { said: saidIn(dto, limits) } : {}),
  };
}

function saidIn({ messages }: ChatCompletionRequest, limits: RequestLimits): SaidMessage[] {
  const reader = new ContentReader(limits);
  return messages.map((message, index) => ({
    role: message.role,
    text: plainText(reader.read(message, index)),
  }));
}

function outputLimit(dto: ChatCompletionRequest): OutputLimit {
  if (dto.max_completion_tokens !== undefined && dto.max_completion_tokens !== null) {
    return {
      maxTokens: dto.max_completion_tokens,
      field: 'max_completion_tokens',
      input: 'messages',
    };
  }
  return { maxTokens: dto.max_tokens ?? undefined, field: 'max_tokens', input: 'messages' };
}

/** `echo` repeats the last message when it has the role of the answer. */
function echoOf(
  dto: ChatCompletionRequest,
  addGenerationPrompt: boolean,
  limits: RequestLimits,
): string | undefined {
  const last = dto.messages.at(-1);
  if (last === undefined || (addGenerationPrompt && last.role !== 'assistant')) return undefined;
  return plainText(new ContentReader(limits).read(last, dto.messages.length - 1));
}
