import { fieldsIn } from '@baton/kernel';
import { parsedEvent, type ReceivedAnswer } from './answer';
import type { EventAt } from './choices';

const TYPE = Buffer.from('"type":"');
const QUOTE = 0x22;

/**
 * Reads one event of `/v1/responses`. Every delta (of text, reasoning, a call's arguments) counts
 * as tokens; events that open and close parts do not.
 */
export function readResponses(answer: ReceivedAnswer, event: EventAt): void {
  const { bytes, from, to, atMs } = event;
  // `[DONE]`.
  if (bytes[from] === 0x5b) return;
  const type = typeOf(event);
  if (type === undefined) answer.fail('an event without a type');
  else if (type.endsWith('.delta')) {
    answer.token(atMs);
    if (answer.keepsText && type.endsWith('output_text.delta')) {
      const { delta } = parsedEvent(bytes, from, to) ?? {};
      if (typeof delta === 'string') answer.text += delta;
    }
  } else if (TERMINAL.has(type)) readTerminal(answer, type, event);
}

const TERMINAL = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'error',
]);

function readTerminal(
  answer: ReceivedAnswer,
  type: string,
  { bytes, from, to, atMs }: EventAt,
): void {
  const event = parsedEvent(bytes, from, to) ?? {};
  const response = fieldsIn(event['response']);
  if (type === 'response.completed' || type === 'response.incomplete') {
    answer.isWhole = true;
    answer.closing(atMs);
    answer.usage(response['usage']);
    return;
  }
  answer.fail(
    type === 'error' ? (event['error'] ?? event['message']) : (response['error'] ?? type),
  );
}

/** The first `type` of an event is its own: it stands before all that may be nested. */
function typeOf({ bytes, from, to }: EventAt): string | undefined {
  const at = bytes.indexOf(TYPE, from);
  if (at !== -1 && at < to) {
    const start = at + TYPE.length;
    const end = bytes.indexOf(QUOTE, start);
    return bytes.toString('latin1', start, end);
  }
  const { type } = parsedEvent(bytes, from, to) ?? {};
  return typeof type === 'string' ? type : undefined;
}
