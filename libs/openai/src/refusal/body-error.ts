import type { OpenaiCode } from './openai-faults';
import { RequestError } from './request-error';

/** Field names and indexes that lead to a value of a body. */
export type Place = readonly (string | number)[];

/** `messages[0].content`, as OpenAI writes it. */
export function fieldName(place: Place): string {
  return place.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? part : `${name}.${part}`;
  }, '');
}

interface SchemaFault {
  readonly message: string;
  readonly code?: OpenaiCode | undefined;
  /** The place that vLLM names. Default: the whole place. */
  readonly named?: Place | undefined;
}

/** A value that does not fit the schema of its body; vLLM names it `body.messages.0.content`. */
export function schemaError(
  place: Place,
  { message, code, named = place }: SchemaFault,
): RequestError {
  const param = place.length === 0 ? null : fieldName(place);
  return new RequestError('invalid_type', {
    message,
    param,
    code,
    vllmParam: ['body', ...named].join('.'),
  });
}

/** The error of a body that is missing or is no object. */
export function noObject(): RequestError {
  return schemaError([], { message: 'The request body must be a JSON object.' });
}

/**
 * The error of a body that is not JSON. An empty body counts as missing.
 *
 * @param fault the error of `JSON.parse`
 */
export function jsonError(text: string, fault: unknown): RequestError {
  if (text.trim() === '') return noObject();
  const reason = fault instanceof Error ? fault.message : '';
  const [, position] = / at position (\d+)/.exec(reason) ?? [];
  const offset = position ?? (/^Unexpected end/.test(reason) ? text.length : undefined);
  const place = offset === undefined ? '' : `: the error is at character ${offset}`;
  const message = `The request body is not valid JSON${place}.`;
  const vllmParam = offset === undefined ? 'body' : `body.${offset}`;
  return new RequestError('invalid_json', { message, param: null, vllmParam });
}

/** The kind of a JSON value, with its article. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number beyond all bounds';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a decimal number';
  if (typeof value === 'number') return value < 0 ? 'a negative integer' : 'an integer';
  return `a ${typeof value}`;
}
