import { findJsonError } from './json-syntax';
import { boundMessage } from './openai-faults';
import { pythonRepr, pythonTuple } from './python-text';
import { type OpenaiText, RequestError } from './request-error';

type Place = readonly (string | number)[];

/** One fault in the shape of a body, with pydantic's description of it. */
export interface SchemaFault {
  /** Field names and indexes that lead to the value. */
  readonly place: Place;
  /** The place of the fault, with the tried branches of unions. */
  readonly location: Place;
  /** pydantic's error type, e.g. `int_type`. */
  readonly type: string;
  readonly message: string;
  readonly input: unknown;
  /** The expected value in plain English, with its article. */
  readonly expected: string;
  readonly context?: Readonly<Record<string, unknown>>;
}

/** The error of a body that does not match its schema. Needs at least one fault. */
export function schemaError(faults: readonly SchemaFault[]): RequestError {
  const first = faults.filter(({ place }) => place[0] === faults[0]?.place[0]);
  const telling = first.sort(byProgress)[0]!;
  return new RequestError('invalid_type', openaiText(telling), {
    message: pydanticMessage(faults),
    param: ['body', ...paramPlace(faults)].join('.'),
  });
}

/** The error of a body that is not JSON. An empty body counts as missing. */
export function jsonError(text: string): RequestError {
  if (text.trim() === '') return missingBody();
  const { offset, message } = findJsonError(text);
  const fault: SchemaFault = {
    place: [offset],
    location: [offset],
    type: 'json_invalid',
    message: 'JSON decode error',
    input: {},
    expected: 'JSON',
    context: { error: message },
  };
  return new RequestError(
    'invalid_json',
    { message: `The request body is not valid JSON: ${message} (offset ${offset}).`, param: null },
    { message: pydanticMessage([fault]), param: `body.${offset}` },
  );
}

/** The error of a request without a body. */
export function missingBody(): RequestError {
  return bodyError('missing', 'Field required', null);
}

/** A fault of the body as a whole. */
export function bodyError(type: string, message: string, input: unknown): RequestError {
  return schemaError([{ place: [], location: [], type, message, input, expected: 'an object' }]);
}

/**
 * Orders the faults of one field by how far each branch of the union got: deeper first, then later
 * in a list, then faults other than of type.
 */
function byProgress(a: SchemaFault, b: SchemaFault): number {
  const depth = b.place.length - a.place.length;
  if (depth !== 0) return depth;
  const [lastA, lastB] = [a.place.at(-1), b.place.at(-1)];
  if (typeof lastA === 'number' && typeof lastB === 'number' && lastA !== lastB) {
    return lastB - lastA;
  }
  return Number(a.type.endsWith('_type')) - Number(b.type.endsWith('_type'));
}

function paramPlace(faults: readonly SchemaFault[]): Place {
  return faults[0]?.place ?? [];
}

/** `messages[0].content`, as OpenAI writes it. */
function fieldName(place: Place): string {
  return place.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? part : `${name}.${part}`;
  }, '');
}

function pydanticMessage(faults: readonly SchemaFault[]): string {
  const label = faults.length === 1 ? 'error' : 'errors';
  return `${faults.length} validation ${label}:\n${faults.map(pydanticLine).join('\n')}`;
}

function pydanticLine(fault: SchemaFault): string {
  const context = fault.context === undefined ? '' : `, 'ctx': ${pythonRepr(fault.context)}`;
  return (
    `  {'type': ${pythonRepr(fault.type)}, 'loc': ${pythonTuple(['body', ...fault.location])}, ` +
    `'msg': ${pythonRepr(fault.message)}, 'input': ${pythonRepr(fault.input)}${context}}`
  );
}

function openaiText(fault: SchemaFault): OpenaiText {
  const { type, input, expected, context } = fault;
  const name = fieldName(fault.place);
  if (type === 'recursion_loop') return { message: `${fault.message}.`, param: name || null };
  if (name === '') return { message: 'The request body must be a JSON object.', param: null };
  if (type === 'missing') return missingText(name);
  if (type === 'greater_than_equal') {
    return { message: `Invalid value for '${name}': ${fault.message}.`, param: name };
  }
  if (type === 'too_long') {
    const [bound, got] = [Number(context?.['max_length']), Number(context?.['actual_length'])];
    const beyond = { code: 'array_above_max_length', bound, got } as const;
    return { message: boundMessage(name, beyond), param: name, code: beyond.code };
  }
  const found = kindOf(input);
  const message = `Invalid type for '${name}': expected ${expected}, but got ${found} instead.`;
  return { message, param: name, code: 'invalid_type' };
}

function missingText(field: string): OpenaiText {
  const message = `Missing required parameter: '${field}'.`;
  return { message, param: field, code: 'missing_required_parameter' };
}

/** The error of a missing field that is required by a rule outside the schema. */
export function missingField(field: string): RequestError {
  const openai = missingText(field);
  return new RequestError('invalid_value', openai, { message: openai.message, param: null });
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number beyond all bounds';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal number';
  return `a ${typeof value}`;
}
