import { nearestName } from '@baton/kernel';
import type { ValidationError } from 'class-validator';
import { fieldName, kindOf, type Place, schemaError } from '../refusal/body-error';
import { type BoundFault, boundMessage } from '../refusal/openai-faults';
import { type Complaint, RequestError, valueError } from '../refusal/request-error';
import {
  acceptedIn,
  type BodyClass,
  BY_SCHEMA,
  type Check,
  HOLDS,
  IS,
  isOrText,
  NAMED,
  type OwnType,
} from './declare';
import { breaks, type Declared, fieldsOf, metadataOf, ruleOf } from './metadata';
import { otherEndpoint } from './other-endpoints';

const UNKNOWN = 'whitelistValidation';
const NESTED = 'nestedValidation';
const MISSING = 'isDefined';
/** Types with their names in a sentence: one, and several. */
const TYPES: Readonly<Record<string, readonly [one: string, several: string]>> = {
  isInt: ['an integer', 'integers'],
  isNumber: ['a number', 'numbers'],
  isBoolean: ['a boolean', 'booleans'],
  isString: ['a string', 'strings'],
  isObject: ['an object', 'objects'],
  [NESTED]: ['an object', 'objects'],
};
const LIST = 'isArray';

interface Fault {
  readonly place: Place;
  /** The part of the place that vLLM names: it names none within a union. */
  readonly named: Place | undefined;
  readonly error: ValidationError;
}

const TOP = { place: [], named: undefined };

/** The first fault of a body as OpenAI's error. Undefined: its fields without effect are all. */
export function refusalOf(errors: readonly ValidationError[]): RequestError | undefined {
  const fault = firstFault(errors, TOP, isWrong) ?? firstFault(errors, TOP, isUnknown);
  return fault && errorOf(fault);
}

function isWrong({ constraints }: ValidationError): boolean {
  return constraints !== undefined && !(UNKNOWN in constraints);
}

function isUnknown({ constraints, target, property }: ValidationError): boolean {
  if (constraints === undefined || !(UNKNOWN in constraints)) return false;
  const accepted = acceptedIn(classOf(target!));
  return accepted !== undefined && !accepted.has(property);
}

function firstFault(
  errors: readonly ValidationError[],
  above: Pick<Fault, 'place' | 'named'>,
  isOne: (error: ValidationError) => boolean,
): Fault | undefined {
  for (const error of errors) {
    const { property, target, children = [] } = error;
    const step = Array.isArray(target) ? Number(property) : property;
    const place = property === undefined ? above.place : [...above.place, step];
    if (isOne(error)) return { place, named: above.named, error };
    if (children.length === 0) continue;
    const named = above.named ?? (isUnion(error) ? place : undefined);
    const inner = firstFault(children, { place, named }, isOne);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function isUnion({ target, property }: ValidationError): boolean {
  return !Array.isArray(target) && metadataOf(classOf(target!), property).some(isOrText);
}

function errorOf({ place, named, error }: Fault): RequestError {
  const { target, property, value, constraints = {} } = error;
  if (UNKNOWN in constraints) return unknownField(place, classOf(target!));
  const all = metadataOf(classOf(target!), property);
  if (MISSING in constraints) return missing({ place, named }, target!);
  const judged = { place, named, value, all, target: target! };
  const wrong = all.find((declared) => isTypeRule(declared) && isBroken(declared, value, target!));
  if (wrong !== undefined) return typeError(judged, wrong);
  const broken = all.find((one) => !isTypeRule(one) && breaks(one, value, target!))!;
  return rangeError(judged, broken);
}

function classOf(target: object): BodyClass {
  return (Object.getPrototypeOf(target) as { constructor: BodyClass }).constructor;
}

function isTypeRule(declared: Declared): boolean {
  const rule = ruleOf(declared);
  return rule === IS || rule === LIST || Object.hasOwn(TYPES, rule);
}

function isBroken(declared: Declared, value: unknown, target: object): boolean {
  if (ruleOf(declared) === NESTED) {
    return typeof value !== 'object' || value === null;
  }
  return declared.each && Array.isArray(value)
    ? value.some((item) => breaks(declared, item, target))
    : breaks(declared, value, target);
}

interface Judged extends Pick<Fault, 'place' | 'named'> {
  readonly value: unknown;
  readonly target: object;
  /** All decorators of the field. */
  readonly all: readonly Declared[];
}

function typeError(judged: Judged, wrong: Declared): RequestError {
  const { place, value, all, target } = judged;
  if (ruleOf(wrong) === IS) return ownTypeError(judged, wrong.constraints[0] as OwnType);
  if (!wrong.each || !Array.isArray(value)) return wrongType(judged, expectedBy(all));
  const index = value.findIndex((item) => breaks(wrong, item, target));
  const item = { ...judged, place: [...place, index], value: value[index] as unknown };
  return wrongType(item, TYPES[ruleOf(wrong)]![0]);
}

function ownTypeError(judged: Judged, { expected, isUnion, wrongIn }: OwnType): RequestError {
  const { place, value } = judged;
  const wrong = wrongIn?.(value);
  const named = judged.named ?? (isUnion === true ? place : undefined);
  if (wrong === undefined) return wrongType({ ...judged, named }, expected);
  return wrongType({ place: [...place, wrong.at], named, value: wrong.value }, wrong.expected);
}

/** The type of a field in words, from all its decorators. */
function expectedBy(all: readonly Declared[]): string {
  const rules = all.map(ruleOf);
  const [one, several] = TYPES[rules.find((rule) => Object.hasOwn(TYPES, rule)) ?? ''] ?? [];
  const list = several === undefined ? 'an array' : `an array of ${several}`;
  const type = rules.includes(LIST) ? list : one!;
  return all.some(isOrText) ? `a string or ${type}` : type;
}

function wrongType(
  { place, named, value }: Pick<Judged, 'place' | 'named' | 'value'>,
  expected: string,
): RequestError {
  const name = fieldName(place);
  const message = `Invalid type for '${name}': expected ${expected}, but got ${kindOf(value)} instead.`;
  return schemaError(place, { message, code: 'invalid_type', named });
}

function missing({ place, named }: Pick<Judged, 'place' | 'named'>, target: object): RequestError {
  const name = fieldName(place);
  const other = place.length === 1 ? otherEndpoint(name, target) : '';
  const message = `Missing required parameter: '${name}'.${other}`;
  return schemaError(place, { message, code: 'missing_required_parameter', named });
}

/** Refuses a field as OpenAI does, with the name that was probably meant. */
export function unknownField(place: Place, body: BodyClass): RequestError {
  const given = String(place.at(-1)).slice(0, 100);
  const name = fieldName([...place.slice(0, -1), given]);
  const nearest = nearestName(given, fieldsOf(body));
  const hint = nearest === undefined ? '' : ` Did you mean '${nearest}'?`;
  const message = `Unknown parameter: '${name}'.${hint}`;
  return new RequestError('invalid_value', { message, param: name, code: 'unknown_parameter' });
}

/** The sentence for a value out of range. */
function complaintOf({ place, value, all, target }: Judged, broken: Declared): Complaint {
  const [bound] = (broken.constraints ?? []) as readonly number[];
  const kind = all.some((one) => ruleOf(one) === 'isInt') ? 'integer' : 'decimal';
  const beyond = (code: BoundFault['code'], got: number, least = bound): Complaint => ({
    message: '',
    beyond: { code, bound: least!, got },
  });
  switch (ruleOf(broken)) {
    case HOLDS:
      return (broken.constraints[0] as Check)(value, target)!;
    case 'min':
      return beyond(`${kind}_below_min_value`, value as number);
    case 'max':
      return beyond(`${kind}_above_max_value`, value as number);
    case 'arrayMinSize':
      return beyond('empty_array', 0);
    case 'arrayMaxSize':
      return beyond('array_above_max_length', (value as unknown[]).length);
    case 'isNotEmpty':
      return beyond('empty_string', 0, 1);
    case 'arrayNotContains':
      return { message: `${broken.propertyName} cannot contain an empty string.` };
    case 'isPositive':
      if ((value as number) < 0) return beyond(`${kind}_below_min_value`, value as number, 0);
      return {
        message: `Invalid '${fieldName(place)}': expected a value > 0, but got ${String(value)} instead.`,
      };
    case 'isIn':
      return { message: notAmong(value, broken.constraints[0] as readonly string[]) };
    default:
      return { message: `The value of '${broken.propertyName}' is not allowed.` };
  }
}

/** OpenAI's sentence for a word that is not among those it knows. */
export function notAmong(value: unknown, known: readonly string[]): string {
  const names = known.map((name) => `'${name}'`);
  const last = names.length > 2 ? `, and ${names.at(-1)}` : ` and ${names.at(-1)}`;
  const listed = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')}${last}`;
  const given = String(value).slice(0, 100);
  return `Invalid value: '${given}'. Supported values are: ${listed}.`;
}

function rangeError(judged: Judged, broken: Declared): RequestError {
  const { place, named } = judged;
  const complaint = complaintOf(judged, broken);
  const field = fieldName(place);
  if (broken.context !== BY_SCHEMA.context) {
    return valueError({ ...complaint, field, named: broken.context === NAMED.context });
  }
  const { beyond, message } = complaint;
  return beyond === undefined
    ? schemaError(place, { message, named })
    : schemaError(place, { message: boundMessage(field, beyond), code: beyond.code, named });
}
