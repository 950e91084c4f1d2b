import { BatonError } from '@baton/contract';
import type { CreateResponse } from './responses.dto';

/**
 * Most characters of the fields that a response repeats. The event loop writes them three times in
 * a stream.
 */
const MOST_CHARACTERS = 1024 * 1024;
const MOST_VALUES = 50_000;

/**
 * Refuses a request with too long repeated fields: instructions, tools, schemas, names.
 *
 * @throws BatonError `request_too_complex`
 */
export function checkRepeated({ input: _input, ...repeated }: CreateResponse): void {
  let values = 0;
  const text = JSON.stringify(repeated, (_key, value: unknown) => {
    values += 1;
    return values > MOST_VALUES ? undefined : value;
  });
  if (values > MOST_VALUES || text.length > MOST_CHARACTERS) {
    throw new BatonError('request_too_complex');
  }
}
