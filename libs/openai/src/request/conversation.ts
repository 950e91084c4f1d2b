import { CHATML, type ChatTurn, joinedContent, type TurnCall } from '@baton/text';
import { missingField } from '../refusal/request-error';
import type { RequestLimits } from '../limits';
import type { CalledFunction, CallField, MessageField } from './chat.dto';
import { ContentReader } from './content-parts';

/** The parts of a conversation, in one form for all endpoints. */
export interface ConversationParts {
  readonly messages: readonly MessageField[];
  /** Tools in the prompt, as in the request. */
  readonly definitions: readonly object[];
  readonly documents: readonly object[];
}

/** Roles of instructions. */
const INSTRUCTING = new Set(['system', 'developer']);

/**
 * Messages as turns of the chat template. Instructions (`system` and `developer`), functions and
 * documents become one leading system turn. Neighbours of one role become one turn.
 */
export function turnsOf(parts: ConversationParts, limits: RequestLimits): ChatTurn[] {
  const { messages, definitions, documents } = parts;
  const reader = new ContentReader(limits);
  const instructions: ChatTurn[] = [];
  const others: ChatTurn[] = [];
  for (let index = 0; index < messages.length; index++) {
    const turn = turnOf(messages[index]!, index, reader);
    (INSTRUCTING.has(turn.role) ? instructions : others).push(turn);
  }
  const merged = mergedTurns(others);
  const isLed = instructions.length + definitions.length + documents.length > 0;
  return isLed ? [leadingTurn(instructions, parts, limits), ...merged] : merged;
}

function leadingTurn(
  instructions: readonly ChatTurn[],
  { definitions, documents }: ConversationParts,
  { template = CHATML }: RequestLimits,
): ChatTurn {
  const leading = instructions.map(({ content }) => content);
  if (definitions.length > 0) leading.push(template.describeTools(definitions));
  if (documents.length > 0) leading.push(documentsText(documents));
  const contents = leading.filter((content) => content.length > 0);
  const system = instructions.find(({ name }) => name !== undefined);
  return { ...system, role: 'system', content: joinedContent(contents, '\n\n') };
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
  const { name } = message;
  return {
    role: message.role,
    content: reader.read(message, index),
    ...(name === undefined || name === null ? {} : { name }),
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

function documentsText(documents: readonly object[]): string {
  const lines = documents.map((document) => JSON.stringify(document));
  return `# Documents\n\n${lines.join('\n')}`;
}

/** Merges each run of turns of one role and name into one turn, in time linear in their number. */
export function mergedTurns(turns: readonly ChatTurn[]): ChatTurn[] {
  const result: ChatTurn[] = [];
  for (let from = 0, to = 0; from < turns.length; from = to) {
    const { role, name } = turns[from]!;
    while (turns[to]?.role === role && turns[to]?.name === name) to += 1;
    result.push(to === from + 1 ? turns[from]! : together(turns.slice(from, to)));
  }
  return result;
}

function together(run: readonly ChatTurn[]): ChatTurn {
  const calls = run.flatMap((turn) => turn.calls ?? []);
  const reasoning = run.flatMap((turn) => turn.reasoning ?? []).join('\n');
  const contents = run.map(({ content }) => content).filter((content) => content.length > 0);
  const texts = contents.findIndex((content) => typeof content !== 'string');
  // Texts before the first content of pieces are joined to one text, whose tokens may span their
  // seams.
  const parts =
    texts > 0 ? [contents.slice(0, texts).join('\n'), ...contents.slice(texts)] : contents;
  return {
    ...run[0]!,
    content: joinedContent(parts, '\n'),
    ...(calls.length === 0 ? {} : { calls }),
    ...(reasoning === '' ? {} : { reasoning }),
  };
}
