import { UsageError } from '@baton/config';
import { fieldsIn, type JsonFields, objectIn } from '@baton/kernel';
import type { SaidMessage } from '@baton/openai';
import type { JsonDocument } from './json-documents';

/** An answer, and the conversation before it. */
export interface AnsweredPrompt {
  readonly said: readonly SaidMessage[];
  readonly answer: string;
}

/** The names of roles in datasets. */
const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  user: 'user',
  system: 'system',
  tool: 'tool',
  gpt: 'assistant',
  assistant: 'assistant',
  model: 'assistant',
  chatgpt: 'assistant',
  bing: 'assistant',
  bard: 'assistant',
};
const PROMPTS = ['prompt', 'question', 'instruction', 'input'] as const;
const ANSWERS = ['answer', 'response', 'completion', 'output'] as const;
const KNOWN = 'conversations (ShareGPT), messages, or a prompt with an answer';

/**
 * All answers of a row; a conversation has one per assistant turn that follows another message.
 * Throws a `UsageError` with file and line.
 */
export function answersIn({ text, line }: JsonDocument, path: string): AnsweredPrompt[] {
  const wrong = (what: string): UsageError => new UsageError(`${path}:${line}: ${what}.`);
  const row = objectIn(text);
  if (row === undefined) throw wrong('no JSON object');
  const turns = row['conversations'] ?? row['messages'];
  if (turns === undefined) {
    const prompt = first(row, PROMPTS);
    const answer = first(row, ANSWERS);
    if (prompt === undefined || answer === undefined) throw wrong(`a row needs ${KNOWN}`);
    return [{ said: [{ role: 'user', text: prompt }], answer }];
  }
  if (!Array.isArray(turns)) throw wrong('a conversation must be a list');
  return answersOf(turns.map((turn, i) => messageOf(turn, i, wrong)));
}

function answersOf(messages: readonly SaidMessage[]): AnsweredPrompt[] {
  return messages.flatMap(({ role, text }, i) =>
    role === 'assistant' && i > 0 ? { said: messages.slice(0, i), answer: text } : [],
  );
}

function messageOf(turn: unknown, index: number, wrong: (what: string) => Error): SaidMessage {
  const fields = fieldsIn(turn);
  const name = fields['from'] ?? fields['role'];
  const text = fields['value'] ?? fields['content'];
  const role = typeof name === 'string' ? ROLES[name.toLowerCase()] : undefined;
  if (role === undefined) throw wrong(`turn ${index + 1} has an unknown role: ${String(name)}`);
  if (typeof text !== 'string') throw wrong(`turn ${index + 1} has no text`);
  return { role, text };
}

function first(row: JsonFields, names: readonly string[]): string | undefined {
  return names.map((name) => row[name]).find((value) => typeof value === 'string');
}
