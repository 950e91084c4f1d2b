import { isObject } from '@baton/kernel';
import {
  asciiJson,
  type PlanSegment,
  rawArray,
  type RawJson,
  rawObject,
  segmentText,
  visibleText,
} from '@baton/text';
import { parseNested } from '../request/parse-body';
import type { FinalFacts, FinishedSequence } from '../answer/render-final';
import {
  type MessageContext,
  messageUsage,
  signatureOf,
  stopFields,
  textBlock,
  toolUseBlock,
  toolUseId,
  unfilledFields,
} from './message-facts';

/** The JSON body (ASCII) of a message that is not streamed. */
export function renderMessage(
  context: Omit<MessageContext, 'plan'>,
  result: FinishedSequence,
  facts: FinalFacts = {},
): string {
  const whole = { ...context, plan: result.plan };
  const { head, options } = context;
  const { dialect } = options;
  const { kvTransferParams: params } = facts;
  const blocks = blocksOf(whole, result);
  return rawObject({
    id: asciiJson(head.id),
    type: '"message"',
    role: '"assistant"',
    content: rawArray(blocks.length > 0 ? blocks : [asciiJson(textBlock(dialect, ''))]),
    model: asciiJson(head.model),
    ...stopFields(whole, result.reason),
    ...unfilledFields(dialect, ['stop_details', 'container', 'diagnostics']),
    usage: messageUsage(whole, result.count, facts.cachedTokens),
    kv_transfer_params: params === undefined ? undefined : asciiJson(params),
  });
}

function blocksOf(context: MessageContext, { count }: FinishedSequence): RawJson[] {
  const { plan, options, request } = context;
  const { tokenizer, dialect } = options;
  const text = (shown: string): RawJson => asciiJson(textBlock(dialect, shown));
  if (plan.segments === undefined) return [text(visibleText(tokenizer, plan, count))];
  const textIn = (segment: PlanSegment | undefined): string =>
    segment === undefined ? '' : segmentText(tokenizer, { plan, segment, count });
  const begun = plan.segments.filter(({ from }) => from < count);
  return begun.flatMap((segment) => {
    switch (segment.kind) {
      case 'reasoning':
        return request.reasoning?.isShown === false
          ? []
          : [thinkingBlock(context, textIn(segment))];
      case 'content':
        return [text(textIn(segment))];
      case 'call': {
        const own = begun.find(({ kind, call }) => kind === 'arguments' && call === segment.call);
        return segment.to > count ? [] : [toolBlock(context, segment, textIn(own))];
      }
      default:
        return [];
    }
  });
}

function thinkingBlock(context: MessageContext, thinking: string): RawJson {
  return asciiJson({ type: 'thinking', thinking, signature: signatureOf(context) });
}

/** A call of a tool. `input` is empty when the token limit has cut the arguments. */
function toolBlock(
  context: MessageContext,
  { name, call }: PlanSegment,
  argumentsText: string,
): RawJson {
  const parsed = parseNested(argumentsText);
  const input = isObject(parsed) ? parsed : {};
  const { dialect } = context.options;
  return asciiJson(toolUseBlock(dialect, { id: toolUseId(context, call), name, input }));
}
