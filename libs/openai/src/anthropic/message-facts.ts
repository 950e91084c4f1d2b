import type { EndReason } from '@baton/contract';
import { hashString, mix } from '@baton/kernel';
import { asciiJson, type OutputPlan, type RawJson, rawObject } from '@baton/text';
import type { AnswerHead, AnswerOptions } from '../answer/answer-head';
import type { Dialect } from '../refusal/dialect';
import type { GenerationRequest } from '../generation-request';
import { callId } from '../answer/call-id';
import { reasoningTokens } from '../answer/reported-tokens';

/** The inputs of a written message. */
export interface MessageContext {
  readonly request: GenerationRequest;
  readonly head: AnswerHead;
  readonly plan: OutputPlan;
  readonly options: AnswerOptions;
}

/** `msg_…` as in Anthropic's API; vLLM uses the ids of chats. */
export function messageId(dialect: Dialect, requestId: string): string {
  return `${dialect === 'vllm' ? 'chatcmpl-' : 'msg_'}${requestId}`;
}

export interface StopFields {
  readonly stop_reason: RawJson;
  /** Undefined: the field is omitted. */
  readonly stop_sequence: RawJson | undefined;
}

/** The reason why a message ended. vLLM writes the stop sequence only when there is one. */
export function stopFields({ plan, options }: MessageContext, reason: EndReason): StopFields {
  const sequence =
    reason === 'stop' && typeof plan.stopReason === 'string' ? plan.stopReason : undefined;
  const none = options.dialect === 'vllm' ? undefined : 'null';
  return {
    stop_reason: asciiJson(stopReason(plan, reason, sequence)),
    stop_sequence: sequence === undefined ? none : asciiJson(sequence),
  };
}

function stopReason(plan: OutputPlan, reason: EndReason, sequence: string | undefined): string {
  if (reason === 'length') return 'max_tokens';
  if (sequence !== undefined) return 'stop_sequence';
  const hasCalls = plan.segments?.some(({ kind }) => kind === 'call') === true;
  return reason === 'stop' && hasCalls ? 'tool_use' : 'end_turn';
}

/** Fields that Anthropic's clients require and that never have a value here. vLLM omits them. */
export function unfilledFields(
  dialect: Dialect,
  names: readonly string[],
): Record<string, RawJson> {
  return dialect === 'vllm' ? {} : Object.fromEntries(names.map((name) => [name, 'null']));
}

/**
 * Usage of a message. Cached tokens are not part of `input_tokens`. vLLM includes them only with
 * prompt token details; before the end they are unknown.
 *
 * @param cachedTokens undefined: unknown
 */
export function messageUsage(
  context: MessageContext,
  outputTokens: number,
  cachedTokens: number | undefined,
): RawJson {
  const { dialect } = context.options;
  const tier = dialect === 'vllm' ? undefined : '"standard"';
  return rawObject({
    ...usageFields(context, outputTokens, cachedTokens),
    ...unfilledFields(dialect, ['cache_creation', 'inference_geo', 'speed']),
    service_tier: tier,
  });
}

/** The usage in the event that ends a stream; it has fewer fields than that of a message. */
export function deltaUsage(
  context: MessageContext,
  outputTokens: number,
  cachedTokens: number | undefined,
): RawJson {
  return rawObject(usageFields(context, outputTokens, cachedTokens));
}

function usageFields(
  { request, options, plan }: MessageContext,
  outputTokens: number,
  cachedTokens: number | undefined,
): Record<string, RawJson | undefined> {
  const promptTokens = request.prompts.reduce((sum, { ids }) => sum + ids.length, 0);
  const isAnthropic = options.dialect === 'openai';
  const hasCached = isAnthropic || options.promptTokensDetails === true;
  const cached = hasCached ? cachedTokens : undefined;
  const thinking = `{"thinking_tokens":${reasoningTokens(plan, outputTokens)}}`;
  return {
    input_tokens: String(promptTokens - (cached ?? 0)),
    cache_creation_input_tokens: isAnthropic ? '0' : undefined,
    cache_read_input_tokens: hasCached ? String(cached ?? 0) : undefined,
    output_tokens: String(outputTokens),
    output_tokens_details: isAnthropic ? thinking : undefined,
    ...unfilledFields(options.dialect, ['server_tool_use']),
  };
}

/** A block of text. In Anthropic's dialect it has an empty field for citations. */
export function textBlock(dialect: Dialect, text: string): object {
  return { type: 'text', text, ...(dialect === 'vllm' ? {} : { citations: null }) };
}

/** A call of a tool. In Anthropic's dialect it states that the model itself made the call. */
export function toolUseBlock(dialect: Dialect, call: ToolUse): object {
  return { type: 'tool_use', ...call, ...(dialect === 'vllm' ? {} : { caller: DIRECT }) };
}

interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

const DIRECT = { type: 'direct' };

/** The id of a call of the message. */
export function toolUseId({ head, options }: MessageContext, call: number): string {
  const id = callId(options.dialect, head.id, { choice: 0, call });
  return id.replace(/^call_/, 'toolu_');
}

/**
 * A placeholder for Anthropic's signature of reasoning, so that a client can send the reasoning
 * back.
 */
export function signatureOf({ head }: MessageContext): string {
  const hash = mix(hashString(head.id), hashString('signature'));
  return Buffer.from(hash.toString(16).padStart(14, '0')).toString('base64');
}
