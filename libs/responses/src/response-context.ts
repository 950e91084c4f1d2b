import { hashString, mix } from '@baton/kernel';
import type { OutputPlan, PlanSegment, RawJson } from '@baton/text';
import { type AnswerHead, type AnswerOptions, LogprobsWriter, ReportedTokens } from '@baton/openai';
import type { ResponseRequest } from './parse-response';
import type { ReasoningEvents } from './response-events';

/** The inputs of a written response. */
export interface ResponseContext {
  readonly request: ResponseRequest;
  readonly head: AnswerHead;
  /** The plan of the response's one sequence. */
  readonly plan: OutputPlan;
  readonly options: ResponseOptions;
}

export interface ResponseOptions extends AnswerOptions {
  /** Default: `openai`. */
  readonly reasoningEvents?: ReasoningEvents | undefined;
}

/** One output item and the plan's segments that it shows. */
export interface OutputPart {
  readonly kind: 'reasoning' | 'message' | 'function_call' | 'custom_tool_call';
  readonly id: string;
  /**
   * Text of the item: reasoning, content, arguments or input. Undefined: the plan ends before the
   * text.
   */
  readonly text: PlanSegment | undefined;
  /** The segment that opens it: the name of a call, else the text itself. */
  readonly opening: PlanSegment;
  /** Id of a call. */
  readonly callId: string;
  readonly name: string;
}

export const PREFIXES = {
  reasoning: 'rs',
  message: 'msg',
  function_call: 'fc',
  custom_tool_call: 'ctc',
};

/** The output items of the plan's tokens, in order. */
export function outputParts({ head, plan }: ResponseContext): OutputPart[] {
  const parts: OutputPart[] = [];
  const add = (part: Omit<OutputPart, 'id' | 'callId'>): void => {
    const hash = mix(hashString(head.id), parts.length);
    parts.push({
      ...part,
      id: outputItemId(PREFIXES[part.kind], head.id, parts.length),
      callId: `call_${idDigits(mix(hash, 1)).slice(0, 24)}`,
    });
  };
  for (const segment of segmentsOf(plan)) {
    const { kind, name, call, callKind } = segment;
    if (kind === 'reasoning') add({ kind, text: segment, opening: segment, name });
    if (kind === 'content') add({ kind: 'message', text: segment, opening: segment, name });
    if (kind !== 'call') continue;
    const text = plan.segments?.find((one) => one.kind === 'arguments' && one.call === call);
    const type = callKind === 'custom' ? 'custom_tool_call' : 'function_call';
    add({ kind: type, text, opening: segment, name });
  }
  return parts;
}

/** The segments of a plan. A plan without segments is one segment of content. */
function segmentsOf({ segments, tokenIds, cut }: OutputPlan): readonly PlanSegment[] {
  if (segments !== undefined) return segments;
  const to = tokenIds.length;
  return [{ kind: 'content', from: 0, to, cut, name: '', call: 0, callKind: 'function' }];
}

/** 48 hexadecimal digits derived from a hash. */
function idDigits(hash: number): string {
  return [1, 2, 3, 4]
    .map((part) => mix(hash, part).toString(16).padStart(14, '0').slice(-12))
    .join('');
}

const RESPONSE_ID = /^resp_([0-9a-f]{48})$/;
const OUTPUT_ITEM_ID = /^[a-z]+_([0-9a-f]{48})[0-9a-f]{2,4}$/;

/** An item's id contains the id of its response, so that references to the item can be resolved. */
export function outputItemId(prefix: string, responseId: string, index: number): string {
  const digits = RESPONSE_ID.exec(responseId)?.[1] ?? idDigits(hashString(responseId));
  return `${prefix}_${digits}${index.toString(16).padStart(2, '0')}`;
}

/** The response of an item id. Undefined: the id contains none. */
export function responseIdOf(itemId: string): string | undefined {
  const digits = OUTPUT_ITEM_ID.exec(itemId)?.[1];
  return digits === undefined ? undefined : `resp_${digits}`;
}

/**
 * Log-probabilities of tokens `[from, to)` of a part, as JSON entries. Empty when not requested.
 */
export function logprobEntries(
  { request, plan, options }: ResponseContext,
  { kind }: OutputPart,
  { from, to }: { readonly from: number; readonly to: number },
): RawJson[] {
  const { logprobs } = request.generation;
  if (logprobs === undefined || kind !== 'message' || request.isRefused) return [];
  const writer = new LogprobsWriter(options.tokenizer, logprobs, false);
  const reported = new ReportedTokens(plan, request.generation, 'openai');
  return writer.chatEntries(writer.ofOutput({ plan, from, to, reported }));
}
