import type { ChatTurn } from '@baton/text';
import { valueError } from '../errors/request-error';
import type { ContentPart, MessageField } from './chat.dto';
import { unsupported } from './unsupported';

/** Part types that hold text, with the key under which they hold it. */
const TEXT_PARTS: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'refusal',
  thinking: 'thinking',
};

/** Messages as turns of the chat template. Parts of one message are joined by line breaks, as vLLM does. */
export function turnsOf(messages: readonly MessageField[]): ChatTurn[] {
  return messages.map((message, index) => {
    const content = contentOf(message, index);
    const calls = (message.tool_calls ?? []).map((call) => JSON.stringify(call));
    return {
      role: message.role,
      content: [content, ...calls].filter((text) => text !== '').join('\n'),
      ...(message.name === undefined || message.name === null ? {} : { name: message.name }),
    };
  });
}

/** Plain text of a message's content. */
export function contentOf(message: MessageField, index: number): string {
  const { content } = message;
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  return content.map((part, at) => partText(part, `messages[${index}].content[${at}]`)).join('\n');
}

function partText(part: ContentPart, place: string): string {
  const key = TEXT_PARTS[part.type];
  if (key === undefined) {
    throw unsupported(place, `${place} of type '${part.type.slice(0, 100)}'`);
  }
  const text = part[key];
  if (typeof text === 'string') return text;
  const message = `${place} of type ${part.type} must have a string in '${key}'.`;
  throw valueError({ field: `${place}.${key}`, message });
}
