import { bodyError, jsonError, missingBody } from '../errors/schema-error';
import { isObject } from './shapes';

/** The JSON value of a request body. Throws `BatonError` `invalid_json`; an empty body is a missing one. */
export function parseJsonBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw jsonError(text);
  }
}

/** JSON inside of a field; undefined when the text is none. */
export function parseNested(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A body must be an object; never a server's fault when it is not. */
export function objectBody(body: unknown): Readonly<Record<string, unknown>> {
  if (body === undefined) throw missingBody();
  if (isObject(body)) return body;
  const message = 'Input should be a valid dictionary or object to extract fields from';
  throw bodyError('model_attributes_type', message, body);
}
