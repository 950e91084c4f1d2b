import { fieldsIn } from '@baton/kernel';
import { parsedEvent, type ReceivedAnswer } from './answer';
import type { EventAt } from './choices';

const TYPE = '"type":"';

/**
 * Reads one event of `/v1/responses`. Every delta (of text, reasoning, a call's arguments) counts
 * as tokens; events that open and close parts do not.
 */
export function readResponses(answer: ReceivedAnswer, event: EventAt): void {
  const { data, atMs } = event;
  // `[DONE]`.
  if (data.startsWith('[')) return;
  const type = typeOf(data);
  if (type === undefined) answer.fail('an event without a type');
  else if (type.endsWith('.delta')) {
    answer.token(atMs);
    if (answer.keepsText && type.endsWith('output_text.delta')) {
      const { delta } = parsedEvent(data) ?? {};
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

function readTerminal(answer: ReceivedAnswer, type: string, { data, atMs }: EventAt): void {
  const event = parsedEvent(data) ?? {};
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
function typeOf(data: string): string | undefined {
  const at = data.indexOf(TYPE);
  if (at !== -1) {
    const start = at + TYPE.length;
    return data.slice(start, data.indexOf('"', start));
  }
  const { type } = parsedEvent(data) ?? {};
  return typeof type === 'string' ? type : undefined;
}
