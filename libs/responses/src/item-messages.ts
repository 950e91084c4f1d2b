import { valueError } from '@baton/openai';
import { type Item, partTexts } from './items';
import { openText } from './sealed-text';

/** A message of a chat. */
export type Message = Readonly<Record<string, unknown>>;

/**
 * The items of a conversation as messages of a chat, so that one template renders both. Calls keep
 * their original text, even if their arguments are not JSON. Reasoning precedes its answer.
 */
export function messagesOf(items: readonly Item[]): Message[] {
  return items.map(messageOf).filter((message) => message !== undefined);
}

/**
 * Throws for the output of a call that is not in the conversation. `own`: items of this request.
 */
export function checkCallIds(items: readonly Item[], own: readonly Item[]): void {
  const known = new Set<unknown>();
  const sent = new Set(own);
  for (const item of items) {
    if (item.type === 'function_call' || item.type === 'custom_tool_call')
      known.add(item['call_id']);
    const isOutput =
      item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
    if (!isOutput || known.has(item['call_id']) || !sent.has(item)) continue;
    const message =
      'No tool call found for the output with call_id ' +
      `${String(item['call_id']).slice(0, 200)}.`;
    throw valueError({ field: 'input', message });
  }
}

function messageOf(item: Item): Message | undefined {
  switch (item.type) {
    case 'message':
      return { role: item['role'], content: contentOf(item['content']) };
    case 'function_call':
      return assistantCall(item, 'function', { name: item['name'], arguments: item['arguments'] });
    case 'custom_tool_call':
      return assistantCall(item, 'custom', { name: item['name'], input: item['input'] });
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'tool', tool_call_id: item['call_id'], content: contentOf(item['output']) };
    case 'reasoning':
      return reasoningMessage(item);
    case 'local_shell_call':
      return { role: 'assistant', content: JSON.stringify(item['action']) };
    case 'local_shell_call_output':
      return { role: 'tool', content: item['output'] };
    case 'mcp_approval_request':
      return { role: 'assistant', content: `${String(item['name'])} ${String(item['arguments'])}` };
    case 'mcp_approval_response':
      return { role: 'user', content: item['approve'] === true ? 'approved' : 'denied' };
    case 'compaction':
      return { role: 'assistant', content: openText(String(item['encrypted_content'])) };
    default:
      return undefined;
  }
}

function assistantCall({ call_id: id }: Item, type: 'function' | 'custom', call: object): Message {
  return { role: 'assistant', content: '', tool_calls: [{ id, type, [type]: call }] };
}

/** Undefined: reasoning without content. */
function reasoningMessage(item: Item): Message | undefined {
  const texts = [...partTexts(item['content']), ...partTexts(item['summary'])];
  const sealed = item['encrypted_content'];
  const reasoning = texts.length > 0 || typeof sealed !== 'string' ? texts[0] : openText(sealed);
  return reasoning === undefined ? undefined : { role: 'assistant', content: '', reasoning };
}

/** Converts parts to those of a chat, which have other names for media. */
function contentOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const parts = content as Readonly<Record<string, unknown>>[];
  return parts.map((part) => (part['type'] === 'summary_text' ? { ...part, type: 'text' } : part));
}
