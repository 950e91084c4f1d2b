import { isObject } from '@baton/kernel';
import { bodyError, jsonError, missingBody } from '../refusal/schema-error';
import { RequestError } from '../refusal/request-error';
import type { RequestLimits } from '../limits';

/**
 * The JSON value of a request body. Throws `BatonError` `invalid_json`; an empty body counts as
 * missing.
 */
export function parseJsonBody(text: string): unknown {
  try {
    const isNumbered = text.includes('_request_id"');
    return JSON.parse(isNumbered ? text.replace(LONG_IDS, '$1"$2"') : text) as unknown;
  } catch {
    throw jsonError(text);
  }
}

/**
 * TensorRT-LLM numbers its requests with 63 bits, but a JavaScript number holds 53, so these two
 * fields are read as text. A name inside a string has escaped quotes and does not match.
 */
const LONG_IDS = /("(?:disagg|ctx)_request_id"\s*:\s*)(-?\d{16,20})(?=\s*[,}])/g;

/** Most levels of a body, so that recursive readers are safe. */
const MAX_DEPTH = 200;

/**
 * Walks the body level by level without recursion, because a body can have as many levels as
 * characters.
 */
function checkDepth(body: object): void {
  let level: object[] = [body];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      throw bodyError('recursion_loop', `Input is nested more than ${MAX_DEPTH} levels deep`, null);
    }
    const next: object[] = [];
    for (const one of level) {
      for (const value of Object.values(one) as unknown[]) {
        if (typeof value === 'object' && value !== null) next.push(value);
      }
    }
    level = next;
  }
}

/** The JSON value inside a field. Undefined: the text is not JSON. */
export function parseNested(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The body as an object. Throws `BatonError` for anything else. */
export function objectBody(body: unknown): Readonly<Record<string, unknown>> {
  if (body === undefined) throw missingBody();
  if (isObject(body)) {
    checkDepth(body);
    return body;
  }
  const message = 'Input should be a valid dictionary or object to extract fields from';
  throw bodyError('model_attributes_type', message, body);
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
  const shown = name.slice(0, 200);
  return new RequestError(
    'model_not_found',
    {
      message: `The model \`${shown}\` does not exist or you do not have access to it.`,
      param: null,
    },
    { message: `The model \`${shown}\` does not exist.`, param: 'model' },
  );
}
