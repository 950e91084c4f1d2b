import { isObject } from '@baton/kernel';
import { valueError } from '../refusal/request-error';
import type { Block, CountTokensRequest, AnthropicMessage } from './messages.dto';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Messages in Anthropic's shape as messages of chat completions. Throws `BatonError` for unreadable
 * blocks.
 */
export function chatMessages({ system, messages }: CountTokensRequest): Fields[] {
  return [...systemMessages(system), ...messages.flatMap((message, i) => chatMessage(message, i))];
}

function systemMessages(system: CountTokensRequest['system']): Fields[] {
  if (system === undefined || system === null) return [];
  const text = typeof system === 'string' ? system : system.map((one) => one.text).join('\n');
  return [{ role: 'system', content: text }];
}

/** Results of tools become separate messages, before the user's other content. */
function chatMessage({ role, content }: AnthropicMessage, index: number): Fields[] {
  if (typeof content === 'string') return [{ role, content }];
  const read = new BlockReader(`messages.${index}.content`);
  content.forEach((block, at) => read.add(block, at));
  return read.messages(role);
}

class BlockReader {
  private readonly parts: Fields[] = [];
  private readonly calls: Fields[] = [];
  private readonly results: Fields[] = [];
  private readonly thoughts: string[] = [];

  constructor(private readonly place: string) {}

  add(block: Block, at: number): void {
    const place = `${this.place}.${at}`;
    switch (block.type) {
      case 'text':
        this.parts.push({ type: 'text', text: requiredText(block, 'text', place) });
        return;
      case 'image':
        this.parts.push(imagePart(block, place));
        return;
      case 'tool_use':
        this.calls.push(callOf(block, place));
        return;
      case 'tool_result':
        this.results.push(resultOf(block, place));
        return;
      case 'tool_reference':
        this.parts.push({ type: 'text', text: requiredText(block, 'tool_name', place) });
        return;
      case 'thinking':
        this.thoughts.push(requiredText(block, 'thinking', place));
        return;
      case 'redacted_thinking':
        return;
      default: {
        const message = `${place}: blocks of type '${block.type.slice(0, 100)}' are not supported`;
        throw valueError({ field: place, message });
      }
    }
  }

  messages(role: string): Fields[] {
    const { parts, calls, results, thoughts } = this;
    const isOwn = parts.length + calls.length + thoughts.length > 0 || results.length === 0;
    const own = {
      role,
      content: parts,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join('\n') }),
    };
    return isOwn ? [...results, own] : results;
  }
}

function callOf(block: Block, place: string): Fields {
  const name = requiredText(block, 'name', place);
  const input = block['input'] ?? {};
  if (!isObject(input)) throw missing(`${place}.input`, 'Input should be an object');
  const called = { name, arguments: JSON.stringify(input) };
  return { id: requiredText(block, 'id', place), type: 'function', function: called };
}

function resultOf(block: Block, place: string): Fields {
  const content = block['content'] ?? '';
  const id = requiredText(block, 'tool_use_id', place);
  if (typeof content === 'string') return { role: 'tool', tool_call_id: id, content };
  if (!Array.isArray(content)) {
    throw missing(`${place}.content`, 'Input should be a string or a list of blocks');
  }
  const parts = content.map((part: unknown, at) => resultPart(part, `${place}.content.${at}`));
  return { role: 'tool', tool_call_id: id, content: parts };
}

function resultPart(part: unknown, place: string): Fields {
  if (!isObject(part)) throw missing(place, 'Input should be a block');
  if (part['type'] === 'text') return { type: 'text', text: requiredText(part, 'text', place) };
  if (part['type'] === 'tool_reference') {
    return { type: 'text', text: requiredText(part, 'tool_name', place) };
  }
  if (part['type'] === 'image') return imagePart(part, place);
  throw missing(place, "Input should be a block of type 'text', 'image' or 'tool_reference'");
}

/** An image by its address or data, which identify it. No image is fetched or decoded. */
function imagePart(block: Fields, place: string): Fields {
  const source = block['source'];
  if (!isObject(source)) throw missing(`${place}.source`, 'Field required');
  const isUrl = source['type'] === 'url';
  const data = requiredText(source, isUrl ? 'url' : 'data', `${place}.source`);
  const url = isUrl ? data : `data:${String(source['media_type'])};base64,${data}`;
  return { type: 'image_url', image_url: { url } };
}

function requiredText(fields: Fields, key: string, place: string): string {
  const value = fields[key];
  if (typeof value === 'string') return value;
  const isMissing = value === undefined || value === null;
  throw missing(`${place}.${key}`, isMissing ? 'Field required' : 'Input should be a valid string');
}

function missing(field: string, message: string): Error {
  return valueError({ field, message: `${field}: ${message}` });
}
