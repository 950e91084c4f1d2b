import { fieldsIn } from '@baton/kernel';
import { parsedEvent, type ReceivedAnswer } from './answer';

const CHOICES = '"choices":[';
const FINISHED = '"finish_reason":"';
const USAGE = '"usage":{';

/**
 * Reads one event of `/v1/completions` or `/v1/chat/completions`. Most events hold only a token:
 * they are recognised by their keys in the text (a key cannot occur in a JSON string, where its
 * quotes are escaped), and not parsed.
 *
 * @param endsWithChoices  true: the end-to-end latency ends with the last event with choices
 * (completions); false: with the last event of any kind (chat), as in vLLM's benchmark
 */
export function readChoices(
  answer: ReceivedAnswer,
  { data, atMs }: EventAt,
  endsWithChoices: boolean,
): void {
  // `[DONE]`.
  if (data.startsWith('[')) {
    answer.isWhole = true;
    return;
  }
  if (!answer.keepsText && isPlainToken(data)) answer.token(atMs);
  else readParsed(answer, { data, atMs }, endsWithChoices);
}

/** The data of one event, and when it was read: ms of `performance.now()`. */
export interface EventAt {
  readonly data: string;
  readonly atMs: number;
}

function isPlainToken(data: string): boolean {
  const choices = data.indexOf(CHOICES);
  if (choices === -1 || data[choices + CHOICES.length] === ']') return false;
  return !data.includes(FINISHED, choices) && !data.includes(USAGE);
}

function readParsed(
  answer: ReceivedAnswer,
  { data, atMs }: EventAt,
  endsWithChoices: boolean,
): void {
  const event = parsedEvent(data);
  if (event === undefined) {
    answer.fail(`an event that is not JSON: ${data.slice(0, 80)}`);
    return;
  }
  if (event['error'] !== undefined && event['error'] !== null) answer.fail(event['error']);
  if (event['usage'] !== undefined && event['usage'] !== null) answer.usage(event['usage']);
  const choices = Array.isArray(event['choices']) ? (event['choices'] as unknown[]) : [];
  if (choices.length === 0) {
    if (!endsWithChoices) answer.closing(atMs);
    return;
  }
  answer.token(atMs);
  for (const choice of choices) readChoice(answer, fieldsIn(choice));
}

function readChoice(answer: ReceivedAnswer, choice: Readonly<Record<string, unknown>>): void {
  const { finish_reason: reason, delta, text } = choice;
  if (typeof reason === 'string') {
    answer.isWhole = true;
    if (reason === 'error') answer.fail('the answer ended with finish_reason error');
  }
  if (!answer.keepsText) return;
  const { content, reasoning, reasoning_content } = fieldsIn(delta);
  const piece = text ?? content ?? reasoning ?? reasoning_content;
  if (typeof piece === 'string') answer.text += piece;
}
