import type { EndReason } from '@baton/contract';
import { hashString, mix } from '@baton/kernel';
import { asciiJson, type OutputPlan } from '@baton/text';
import type { AnswerHead, AnswerOptions } from '../answer/answer-head';
import { callId } from '../answer/call-id';
import { type RawJson, rawObject } from '../answer/raw-json';
import type { GenerationRequest } from '../generation-request';
import type { Dialect } from '../limits';

/** What a message is written from. */
export interface MessageContext {
  readonly request: GenerationRequest;
  readonly head: AnswerHead;
  readonly plan: OutputPlan;
  readonly options: AnswerOptions;
}

/** `msg_…` as Anthropic names messages; vLLM names them as chats. */
export function messageId(dialect: Dialect, requestId: string): string {
  return `${dialect === 'vllm' ? 'chatcmpl-' : 'msg_'}${requestId}`;
}

export interface StopFields {
  readonly stop_reason: RawJson;
  /** Undefined: left out. */
  readonly stop_sequence: RawJson | undefined;
}

/** Why a message ended; vLLM names the stop sequence only when there is one. */
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

/**
 * Usage of a message. Cached tokens are not part of `input_tokens`; vLLM knows of them only with prompt token details, and before the end nobody does.
 *
 * @param cachedTokens undefined: not known
 */
export function messageUsage(
  { request, options }: MessageContext,
  outputTokens: number,
  cachedTokens: number | undefined,
): RawJson {
  const promptTokens = request.prompts.reduce((sum, { ids }) => sum + ids.length, 0);
  const tells = options.dialect === 'openai' || options.promptTokensDetails === true;
  const cached = tells ? cachedTokens : undefined;
  return rawObject({
    input_tokens: String(promptTokens - (cached ?? 0)),
    cache_creation_input_tokens: options.dialect === 'openai' ? '0' : undefined,
    cache_read_input_tokens: tells ? String(cached ?? 0) : undefined,
    output_tokens: String(outputTokens),
  });
}

/** Names a call of the message. */
export function toolUseId({ head, options }: MessageContext, call: number): string {
  const id = callId(options.dialect, head.id, { choice: 0, call });
  return id.replace(/^call_/, 'toolu_');
}

/** Stands where Anthropic signs a thought, so that a client can send it back. */
export function signatureOf({ head }: MessageContext): string {
  const hash = mix(hashString(head.id), hashString('signature'));
  return Buffer.from(hash.toString(16).padStart(14, '0')).toString('base64');
}
