import { isObject } from '@baton/kernel';
import { missingField, valueError } from '@baton/openai';

/** A checked item of a conversation, as the Responses API defines it, with an id. */
export type Item = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly id: string;
};

type Fields = Readonly<Record<string, unknown>>;

/** The required fields of an item type; `text` fields are strings. */
interface ItemRule {
  readonly prefix: string;
  readonly text?: readonly string[];
  readonly check?: (item: Fields, place: string) => void;
}

const ROLES = new Set(['user', 'assistant', 'system', 'developer']);
/** Part types, with the key of their text. */
const TEXT_PARTS: Readonly<Record<string, string>> = {
  input_text: 'text',
  output_text: 'text',
  text: 'text',
  refusal: 'refusal',
  summary_text: 'text',
  reasoning_text: 'text',
};
const MEDIA_PARTS = new Set(['input_image', 'input_audio']);

/** All supported types: those that clients send, and those in Baton's answers. */
const RULES: Readonly<Record<string, ItemRule>> = {
  message: { prefix: 'msg', check: checkMessage },
  function_call: { prefix: 'fc', text: ['call_id', 'name', 'arguments'] },
  function_call_output: { prefix: 'fco', text: ['call_id'], check: checkOutput },
  custom_tool_call: { prefix: 'ctc', text: ['call_id', 'name', 'input'] },
  custom_tool_call_output: { prefix: 'ctco', text: ['call_id'], check: checkOutput },
  reasoning: { prefix: 'rs', check: checkReasoning },
  local_shell_call: { prefix: 'lsh', text: ['call_id'], check: checkAction },
  local_shell_call_output: { prefix: 'lsho', text: ['output'] },
  mcp_approval_request: { prefix: 'mcpr', text: ['name', 'arguments', 'server_label'] },
  mcp_approval_response: { prefix: 'mcpa', text: ['approval_request_id'], check: checkApproval },
  item_reference: { prefix: 'ref', text: ['id'] },
  compaction: { prefix: 'cmp', text: ['encrypted_content'] },
};

/**
 * The items of `input`. A text becomes one message of the user. Throws with the path of the first
 * malformed item.
 */
export function readItems(
  input: string | readonly Fields[] | null | undefined,
  newId: (prefix: string) => string,
  field = 'input',
): Item[] {
  if (input === undefined || input === null) return [];
  if (typeof input === 'string') {
    const content = [{ type: 'input_text', text: input }];
    return [{ type: 'message', id: newId('msg'), status: 'completed', role: 'user', content }];
  }
  return input.map((item, i) => readItem(item, `${field}[${i}]`, newId));
}

/** `own` with its references replaced by items. Throws for an id that is not in `known`. */
export function followReferences(own: readonly Item[], known: readonly Item[]): Item[] {
  const byId = new Map<string, Item>();
  for (const item of known) if (!byId.has(item.id)) byId.set(item.id, item);
  return own.map((item, i) => {
    if (item.type !== 'item_reference') return item;
    const found = byId.get(item.id);
    if (found !== undefined) return found;
    const message = `Item with id '${item.id.slice(0, 200)}' not found.`;
    throw valueError({ field: `input[${i}].id`, message });
  });
}

function readItem(item: Fields, place: string, newId: (prefix: string) => string): Item {
  const type = typeOf(item, place);
  const rule = Object.hasOwn(RULES, type) ? RULES[type] : undefined;
  if (rule === undefined) {
    const message = `${place}.type '${type.slice(0, 100)}' is not a supported type of item.`;
    throw valueError({ field: `${place}.type`, message });
  }
  for (const name of rule.text ?? []) textIn(item, name, place);
  rule.check?.(item, place);
  const own = type === 'message' ? spelledOut(item) : item;
  const id = item['id'];
  if (id !== undefined && id !== null && typeof id !== 'string')
    throw wrong(`${place}.id`, 'a string');
  return { ...own, type, id: typeof id === 'string' && id !== '' ? id : newId(rule.prefix) };
}

/** A message with its text as one part. */
function spelledOut(message: Fields): Fields {
  const { role, content: text, status } = message;
  if (typeof text !== 'string') return { ...message, status: status ?? 'completed' };
  const part =
    role === 'assistant'
      ? { type: 'output_text', annotations: [], logprobs: [], text }
      : { type: 'input_text', text };
  return { ...message, status: status ?? 'completed', content: [part] };
}

/** The type of an item. A message or a reference may omit it. */
function typeOf(item: Fields, place: string): string {
  const { type } = item;
  if (typeof type === 'string') return type;
  if (type !== undefined && type !== null) throw wrong(`${place}.type`, 'a string');
  if (item['role'] !== undefined) return 'message';
  if (typeof item['id'] === 'string') return 'item_reference';
  throw missingField(`${place}.type`);
}

function checkMessage({ role, content }: Fields, place: string): void {
  if (typeof role !== 'string' || !ROLES.has(role)) {
    throw wrong(`${place}.role`, `one of ${[...ROLES].join(', ')}`);
  }
  if (typeof content === 'string') return;
  checkParts(content, `${place}.content`);
}

function checkParts(parts: unknown, place: string): void {
  if (!Array.isArray(parts)) throw wrong(place, 'a string or a list of parts');
  parts.forEach((part: unknown, i) => checkPart(part, `${place}[${i}]`));
}

function checkPart(part: unknown, place: string): void {
  if (!isObject(part)) throw wrong(place, 'an object');
  const { type } = part;
  if (typeof type !== 'string') throw wrong(`${place}.type`, 'a string');
  const key = Object.hasOwn(TEXT_PARTS, type) ? TEXT_PARTS[type] : undefined;
  if (key !== undefined) {
    textIn(part, key, place);
  } else if (!MEDIA_PARTS.has(type)) {
    const message = `${place}.type '${type.slice(0, 100)}' is not a supported type of part.`;
    throw valueError({ field: `${place}.type`, message });
  }
}

function checkOutput({ output }: Fields, place: string): void {
  if (typeof output !== 'string') checkParts(output, `${place}.output`);
}

function checkReasoning(
  { summary, content, encrypted_content: sealed }: Fields,
  place: string,
): void {
  if (summary !== undefined && summary !== null) checkParts(summary, `${place}.summary`);
  if (content !== undefined && content !== null) checkParts(content, `${place}.content`);
  if (sealed !== undefined && sealed !== null && typeof sealed !== 'string') {
    throw wrong(`${place}.encrypted_content`, 'a string');
  }
}

function checkAction({ action }: Fields, place: string): void {
  if (!isObject(action)) throw wrong(`${place}.action`, 'an object');
}

function checkApproval({ approve }: Fields, place: string): void {
  if (typeof approve !== 'boolean') throw wrong(`${place}.approve`, 'a boolean');
}

function textIn(item: Fields, name: string, place: string): void {
  if (typeof item[name] !== 'string') throw wrong(`${place}.${name}`, 'a string');
}

function wrong(field: string, expected: string): Error {
  return valueError({ field, message: `${field} must be ${expected}.` });
}

/** The texts of checked parts. */
export function partTexts(parts: unknown): string[] {
  if (typeof parts === 'string') return [parts];
  if (!Array.isArray(parts)) return [];
  return (parts as Fields[]).flatMap((part) => {
    const key = Object.hasOwn(TEXT_PARTS, part['type'] as string)
      ? TEXT_PARTS[part['type'] as string]!
      : '';
    const text = part[key];
    return typeof text === 'string' ? [text] : [];
  });
}
