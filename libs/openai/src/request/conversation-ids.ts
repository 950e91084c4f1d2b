import {
  applyChatTemplate,
  ChatTemplateError,
  type ChatTurn,
  placeholder,
  type TemplateMessage,
} from '@baton/text';
import { valueError } from '../refusal/request-error';
import type { RequestLimits } from '../limits';
import type { CalledFunction, ChatCompletionRequest, MessageField } from './chat.dto';
import { ContentReader } from './content-parts';

/** A conversation in the forms of both kinds of template. */
export interface ReadConversation {
  readonly dto: ChatCompletionRequest;
  readonly turns: readonly ChatTurn[];
  /** Tools in the prompt, as in the request. */
  readonly definitions: readonly object[];
}

export interface PromptOptions {
  readonly addGenerationPrompt: boolean;
  readonly continueFinalTurn: boolean;
  readonly thinks: boolean;
  /** A longer prompt gives exactly `limit + 1` ids. Default: no limit. */
  readonly limit?: number;
}

/**
 * The prompt of a conversation: by the Jinja template of the model's folder or of the operator,
 * else by that of a family. Throws `BatonError` when the template refuses the conversation.
 */
export function conversationIds(
  { dto, turns, definitions }: ReadConversation,
  options: PromptOptions,
  limits: RequestLimits,
): Int32Array {
  const { template, tokenizer } = limits;
  if (template?.jinja === undefined) {
    return applyChatTemplate(tokenizer, turns, { ...options, template });
  }
  const media: (readonly number[])[] = [];
  try {
    const text = template.jinja.render({
      messages: templateMessages(dto.messages, media, limits),
      tools: definitions,
      documents: dto.documents ?? [],
      addGenerationPrompt: options.addGenerationPrompt,
      continueFinalTurn: options.continueFinalTurn,
      variables: {
        ...(typeof dto.reasoning_effort === 'string'
          ? { reasoning_effort: dto.reasoning_effort }
          : {}),
        ...dto.chat_template_kwargs,
      },
    });
    return template.jinja.ids(tokenizer, text, { media, limit: options.limit ?? Infinity });
  } catch (error) {
    if (!(error instanceof ChatTemplateError)) throw error;
    throw valueError({ field: 'messages', message: error.message });
  }
}

/** The messages as vLLM gives them to a template. Adds the ids of images and clips to `media`. */
function templateMessages(
  messages: readonly MessageField[],
  media: (readonly number[])[],
  limits: RequestLimits,
): TemplateMessage[] {
  const reader = new ContentReader(limits);
  return messages.map((message, index) => {
    const content = reader.read(message, index);
    const pieces = typeof content === 'string' ? [content] : content;
    const { name, tool_call_id, tool_calls, function_call } = message;
    const reasoning = message.reasoning ?? message.reasoning_content;
    const others = {
      name,
      tool_call_id,
      tool_calls: tool_calls?.map((call) => ({ ...call, function: calledFunction(call.function) })),
      function_call: calledFunction(function_call),
      reasoning,
      reasoning_content: reasoning,
    };
    return {
      role: message.role,
      content: pieces
        .map((piece) => (typeof piece === 'string' ? piece : placeholder(media.push(piece) - 1)))
        .join(''),
      ...Object.fromEntries(Object.entries(others).filter(([, value]) => value != null)),
    };
  });
}

/** Templates read the arguments as an object. Text that is no JSON stays text. */
function calledFunction(called: CalledFunction | null | undefined): CalledFunction | undefined {
  if (called === undefined || called === null) return undefined;
  if (typeof called.arguments !== 'string') return called;
  try {
    return { ...called, arguments: JSON.parse(called.arguments) as object };
  } catch {
    return called;
  }
}
