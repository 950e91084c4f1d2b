import type { RequestLimits } from '../limits';
import { jsonError } from '../refusal/body-error';
import { RequestError } from '../refusal/request-error';

/**
 * The JSON value of a request body. Throws `BatonError` `invalid_json`; an empty body counts as
 * missing.
 */
export function parseJsonBody(text: string): unknown {
  try {
    const isNumbered = text.includes('_request_id"');
    return JSON.parse(isNumbered ? text.replace(LONG_IDS, '$1"$2"') : text) as unknown;
  } catch (error) {
    throw jsonError(text, error);
  }
}

/**
 * TensorRT-LLM numbers its requests with 63 bits, but a JavaScript number holds 53, so these two
 * fields are read as text. A name inside a string has escaped quotes and does not match.
 */
const LONG_IDS = /("(?:disagg|ctx)_request_id"\s*:\s*)(-?\d{16,20})(?=\s*[,}])/g;

/** The JSON value inside a field. Undefined: the text is not JSON. */
export function parseNested(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The served name for the answer: the first one for a request without a model or with one of its
 * aliases. Throws `model_not_found`.
 */
export function servedModel(name: string | null | undefined, limits: RequestLimits): string {
  const [first = ''] = limits.models;
  if (name === undefined || name === null || name === '') return first;
  if (limits.aliases?.includes(name)) return first;
  if (limits.models.includes(name)) return name;
  throw modelNotFound(name);
}

export function modelNotFound(name: string): RequestError {
  const message = `The model \`${name.slice(0, 200)}\` does not exist or you do not have access to it.`;
  return new RequestError('model_not_found', { message, param: null, vllmParam: 'model' });
}
