import { BatonError } from '@baton/contract';
import { isObject } from '@baton/kernel';

/**
 * The request body in a WebSocket message. Throws `BatonError` for a message that does not request
 * a response.
 */
export function messageBody(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new BatonError('invalid_type', 'A message must be a JSON object.');
  const { type, ...message } = value;
  if (type !== 'response.create') {
    throw new BatonError('invalid_value', "type must be 'response.create'.", 'type');
  }
  if (message['background'] === true) {
    const why = 'background is not supported over a WebSocket.';
    throw new BatonError('invalid_value', why, 'background');
  }
  if (message['generate'] === false) {
    throw new BatonError('invalid_value', 'generate: false is not supported.', 'generate');
  }
  return { ...message, stream: true };
}
