import { fieldsIn } from '@baton/kernel';
import { parsedEvent, type ReceivedAnswer } from './answer';

const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const CHOICES = Buffer.from('"choices":[');
const FINISHED = Buffer.from('"finish_reason":"');
const USAGE = Buffer.from('"usage":{');

/**
 * Reads one event of `/v1/completions` or `/v1/chat/completions`. Most events hold only a token:
 * they are recognised by their keys in the bytes (a key cannot occur in a JSON string, where its
 * quotes are escaped), and not parsed.
 *
 * @param endsWithChoices  true: the end-to-end latency ends with the last event with choices
 * (completions); false: with the last event of any kind (chat), as in vLLM's benchmark
 */
export function readChoices(
  answer: ReceivedAnswer,
  { bytes, from, to, atMs }: EventAt,
  endsWithChoices: boolean,
): void {
  // `[DONE]`.
  if (bytes[from] === OPENING_BRACKET) {
    answer.isWhole = true;
    return;
  }
  if (!answer.keepsText && isPlainToken(bytes, from, to)) answer.token(atMs);
  else readParsed(answer, { bytes, from, to, atMs }, endsWithChoices);
}

export interface EventAt {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
}

function isPlainToken(bytes: Buffer, from: number, to: number): boolean {
  const choices = bytes.indexOf(CHOICES, from);
  if (choices === -1 || choices >= to) return false;
  if (bytes[choices + CHOICES.length] === CLOSING_BRACKET) return false;
  return isBeyond(bytes.indexOf(FINISHED, choices), to) && isBeyond(bytes.indexOf(USAGE, from), to);
}

function isBeyond(at: number, to: number): boolean {
  return at === -1 || at >= to;
}

function readParsed(
  answer: ReceivedAnswer,
  { bytes, from, to, atMs }: EventAt,
  endsWithChoices: boolean,
): void {
  const event = parsedEvent(bytes, from, to);
  if (event === undefined) {
    answer.fail(
      `an event that is not JSON: ${bytes.toString('utf8', from, Math.min(to, from + 80))}`,
    );
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
