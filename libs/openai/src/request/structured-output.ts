import { isObject } from '@baton/kernel';
import { type Constraint, constrain, ConstraintError, type StructuredText } from '@baton/text';
import { missingField, valueError } from '../refusal/request-error';
import { parseNested } from './parse-body';
import type { FormatField, SamplingFields } from './sampling.dto';

/** OpenAI's rule for the name of a schema. */
const SCHEMA_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const KINDS = ['json', 'regex', 'choice', 'grammar', 'json_object', 'structural_tag'] as const;
type Kind = (typeof KINDS)[number];
type Outputs = Readonly<Record<string, unknown>>;

/** Path of a kind in the fields of a request. */
const OUTPUTS = 'structured_outputs.';
const GUIDED = 'guided_';
type Prefix = typeof OUTPUTS | typeof GUIDED;

/** Fields of vLLM before 0.12, with the meaning of today's `structured_outputs`. */
export const GUIDED_FIELDS = [
  ...['guided_json', 'guided_regex', 'guided_choice', 'guided_grammar'],
  'guided_whitespace_pattern',
];

/**
 * The constraint of `response_format` or `structured_outputs`. Undefined for free text. Throws
 * `BatonError` when no answer can meet it.
 */
export function constraintOf(dto: SamplingFields): StructuredText | undefined {
  const { response_format: format, structured_outputs: outputs } = dto;
  const ofFormat = format === undefined || format === null ? undefined : fromFormat(format);
  const older = olderOutputs(dto);
  const given = [
    ...(ofFormat === undefined ? [] : [ofFormat]),
    ...(outputs === undefined || outputs === null ? [] : [fromOutputs(outputs, OUTPUTS)]),
    ...(older === undefined ? [] : [fromOutputs(older, GUIDED)]),
  ];
  if (given.length > 1) throw severalConstraints();
  return given[0];
}

/**
 * `structured_outputs` in the form of vLLM before 0.12: separate fields of the request. Undefined:
 * none is used.
 */
function olderOutputs(dto: SamplingFields): Outputs | undefined {
  const outputs = {
    json: dto.guided_json,
    regex: dto.guided_regex,
    choice: dto.guided_choice,
    grammar: dto.guided_grammar,
    whitespace_pattern: dto.guided_whitespace_pattern,
  };
  return KINDS.some((kind) => isGiven((outputs as Outputs)[kind])) ? outputs : undefined;
}

function fromFormat(format: FormatField): StructuredText | undefined {
  switch (format.type) {
    case 'text':
      return undefined;
    case 'json_object':
      return constrainField({ kind: 'object' }, 'response_format');
    case 'json_schema':
      return fromSchema(format.json_schema);
    case 'structural_tag':
      return constrainField({ kind: 'structural-tag', tag: format as never }, 'response_format');
    default: {
      const message =
        `response_format.type must be 'text', 'json_object', 'json_schema' or ` +
        `'structural_tag', got '${format.type.slice(0, 100)}'.`;
      throw valueError({ field: 'response_format.type', message });
    }
  }
}

function fromSchema(wrapper: FormatField['json_schema']): StructuredText {
  const field = 'response_format.json_schema';
  if (wrapper === undefined || wrapper === null) {
    throw missingField(field);
  }
  const { name, schema } = wrapper;
  if (typeof name !== 'string' || !SCHEMA_NAME.test(name)) {
    const message = `${field}.name must be up to 64 letters, digits, underscores and dashes.`;
    throw valueError({ field: `${field}.name`, message });
  }
  if (schema === undefined || schema === null) return constrainField({ kind: 'object' }, field);
  if (!isObject(schema) && typeof schema !== 'boolean') {
    throw valueError({ field: `${field}.schema`, message: `${field}.schema must be an object.` });
  }
  return constrainField({ kind: 'schema', schema: schema as never }, `${field}.schema`, name);
}

function fromOutputs(outputs: Outputs, prefix: Prefix): StructuredText {
  const given = KINDS.filter((kind) => isGiven(outputs[kind]));
  if (given.length > 1) throw severalConstraints();
  const [kind] = given;
  if (kind === undefined) {
    const message = `structured_outputs must have one of ${KINDS.join(', ')}.`;
    throw valueError({ field: 'structured_outputs', message });
  }
  const place = { outputs, field: `${prefix}${kind}` };
  return constrainField(constraintFor(kind, place), place.field);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** The outputs, and the name of the field that is read. */
interface OutputPlace {
  readonly outputs: Outputs;
  readonly field: string;
}

function constraintFor(kind: Kind, { outputs, field }: OutputPlace): Constraint {
  const value = outputs[kind];
  const style = {
    isCompact: outputs['disable_any_whitespace'] === true || isBlankless(outputs),
    isClosed: outputs['disable_additional_properties'] === true,
  };
  switch (kind) {
    case 'json':
      return { kind: 'schema', schema: documentIn(value, field, true) as never, ...style };
    case 'json_object':
      return { kind: 'object', ...style };
    case 'regex':
      return { kind, pattern: textIn(value, field) };
    case 'grammar':
      return { kind, grammar: textIn(value, field) };
    case 'structural_tag':
      return { kind: 'structural-tag', tag: documentIn(value, field, false) as never };
    case 'choice':
      if (isTexts(value) && value.length > 0) return { kind, choices: value };
      throw wrongKind(field, 'a list of at least one string');
  }
}

/** Whether white space is left out: the pattern for white space does not match a blank. */
function isBlankless({ whitespace_pattern: pattern }: Outputs): boolean {
  return typeof pattern === 'string' && !pattern.includes(' ') && !pattern.includes('\\s');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function textIn(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw wrongKind(field, 'a non-empty string');
}

/** A JSON document, or the text of one. */
function documentIn(value: unknown, field: string, mayBeBoolean: boolean): unknown {
  const document = typeof value === 'string' ? parseNested(value) : value;
  if (isObject(document) || (mayBeBoolean && typeof document === 'boolean')) return document;
  throw wrongKind(field, 'a JSON object or the text of one');
}

function wrongKind(field: string, expected: string): Error {
  return valueError({ field, message: `${field} must be ${expected}.` });
}

function severalConstraints(): Error {
  const message =
    "You can only use one kind of constraints for structured outputs ('json', 'regex' or " +
    "'choice').";
  return valueError({ field: 'structured_outputs', message });
}

function constrainField(constraint: Constraint, field: string, name?: string): StructuredText {
  try {
    return constrain(constraint);
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    const [whole = ''] = field.split('.');
    const what = name === undefined ? whole : `${whole} '${name}'`;
    const noun = constraint.kind === 'schema' ? 'schema' : 'value';
    throw valueError({ field, message: `Invalid ${noun} for ${what}: ${error.message}.` });
  }
}
