import { CHATML, type ChatTurn, joinedContent, mergedTurns, type TurnCall } from '@baton/text';
import { missingField } from '@baton/refusal';
import type { RequestLimits } from '../limits';
import type { CalledFunction, CallField, MessageField } from './chat.dto';
import { ContentReader } from './content-parts';

/** What a conversation is made of, whatever endpoint it came in at. */
export interface ConversationParts {
  readonly messages: readonly MessageField[];
  /** Tools in the prompt, as the request has them. */
  readonly definitions: readonly object[];
  readonly documents: readonly object[];
}

/** Roles that give instructions. */
const INSTRUCTING = new Set(['system', 'developer']);

/**
 * Messages as turns of the chat template. Instructions (`system` and `developer`), functions and
 * documents become one leading system turn; neighbours of one role become one turn.
 */
export function turnsOf(parts: ConversationParts, limits: RequestLimits): ChatTurn[] {
  const reader = new ContentReader(limits);
  const turns = parts.messages.map((message, index) => turnOf(message, index, reader));
  const instructions = turns.filter(({ role }) => INSTRUCTING.has(role));
  const leading = [
    ...instructions.map(({ content }) => content),
    ...described(parts.definitions, (limits.template ?? CHATML).describeTools),
    ...described(parts.documents, documentsText),
  ].filter((content) => content.length > 0);
  const system = instructions.find(({ name }) => name !== undefined) ?? { role: 'system' };
  const others = mergedTurns(turns.filter(({ role }) => !INSTRUCTING.has(role)));
  if (leading.length === 0 && instructions.length === 0) return others;
  return [{ ...system, role: 'system', content: joinedContent(leading, '\n\n') }, ...others];
}

function turnOf(message: MessageField, index: number, reader: ContentReader): ChatTurn {
  const calls = [
    ...(message.tool_calls ?? []).map((call, i) =>
      calledBy(call, `messages[${index}].tool_calls[${i}]`),
    ),
    ...(message.function_call
      ? [functionCall(message.function_call, `messages[${index}].function_call`)]
      : []),
  ];
  const reasoning = message.reasoning ?? message.reasoning_content ?? '';
  const isNamed = message.name !== undefined && message.name !== null;
  return {
    role: message.role,
    content: reader.read(message, index),
    ...(isNamed ? { name: message.name } : {}),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { calls }),
  };
}

function calledBy({ custom, function: called }: CallField, place: string): TurnCall {
  if (custom === undefined || custom === null)
    return functionCall(called ?? {}, `${place}.function`);
  return { name: nameOf(custom, `${place}.custom`), arguments: custom.input ?? '', kind: 'custom' };
}

function functionCall(called: CalledFunction, place: string): TurnCall {
  const { arguments: args } = called;
  const text = typeof args === 'string' ? args : args ? JSON.stringify(args) : '{}';
  return { name: nameOf(called, place), arguments: text };
}

function nameOf({ name }: { readonly name?: string | null }, place: string): string {
  if (name !== undefined && name !== null) return name;
  throw missingField(`${place}.name`);
}

function described<Item>(
  items: readonly Item[],
  describe: (items: readonly Item[]) => string,
): string[] {
  return items.length === 0 ? [] : [describe(items)];
}

function documentsText(documents: readonly object[]): string {
  const lines = documents.map((document) => JSON.stringify(document));
  return `# Documents\n\n${lines.join('\n')}`;
}
