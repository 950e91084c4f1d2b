import { isObject } from '@baton/kernel';
import type { SchemaFault } from '../refusal/schema-error';

/** JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A check of a value's type. No value is converted: `"5"` is not an integer, `1` is not a boolean.
 * `Value` is the accepted type.
 */
export interface Shape<out Value = unknown> {
  /** Never set; it carries the type `Value`. */
  readonly fits?: Value;
  /** The expected type with its article, for OpenAI's sentence. */
  readonly expected: string;
  readonly plural: string;
  /** pydantic's name of the type as a branch of a union. */
  readonly branch: string;
  /** The check as a JSON Schema. */
  readonly schema: JsonSchema;
  /** Faults with places relative to the value. Empty: the value passes. */
  check(value: unknown): readonly SchemaFault[];
}

const FITS: readonly SchemaFault[] = [];

type Complaint = Pick<SchemaFault, 'type' | 'message' | 'context'>;
type ComplaintOf = (value: unknown) => Complaint | undefined;

function leaf<Value>(name: Omit<Shape, 'check' | 'fits'>, complaintOf: ComplaintOf): Shape<Value> {
  const check = (input: unknown): readonly SchemaFault[] => {
    const complaint = complaintOf(input);
    if (complaint === undefined) return FITS;
    return [{ ...complaint, place: [], location: [], input, expected: name.expected }];
  };
  return { ...name, check };
}

const NOT_FINITE: Complaint = { type: 'finite_number', message: 'Input should be a finite number' };
const integer: ComplaintOf = (value) => {
  if (typeof value !== 'number') {
    return { type: 'int_type', message: 'Input should be a valid integer' };
  }
  if (!Number.isFinite(value)) return NOT_FINITE;
  if (Number.isInteger(value)) return undefined;
  const message = 'Input should be a valid integer, got a number with a fractional part';
  return { type: 'int_from_float', message };
};

export const INTEGER = leaf<number>(
  { expected: 'an integer', plural: 'integers', branch: 'int', schema: { type: 'integer' } },
  integer,
);

export const NUMBER = leaf<number>(
  { expected: 'a number', plural: 'numbers', branch: 'float', schema: { type: 'number' } },
  (value) => {
    if (typeof value !== 'number') {
      return { type: 'float_type', message: 'Input should be a valid number' };
    }
    return Number.isFinite(value) ? undefined : NOT_FINITE;
  },
);

export const BOOLEAN = leaf<boolean>(
  { expected: 'a boolean', plural: 'booleans', branch: 'bool', schema: { type: 'boolean' } },
  (value) =>
    typeof value === 'boolean'
      ? undefined
      : { type: 'bool_type', message: 'Input should be a valid boolean' },
);

export const STRING = leaf<string>(
  { expected: 'a string', plural: 'strings', branch: 'str', schema: { type: 'string' } },
  (value) =>
    typeof value === 'string'
      ? undefined
      : { type: 'string_type', message: 'Input should be a valid string' },
);

export const OBJECT = leaf<object>(
  { expected: 'an object', plural: 'objects', branch: 'dict', schema: { type: 'object' } },
  (value) =>
    isObject(value)
      ? undefined
      : { type: 'dict_type', message: 'Input should be a valid dictionary' },
);

export const TOKEN_ID = leaf<number>(
  {
    expected: 'a token id',
    plural: 'token ids',
    branch: 'int',
    schema: { type: 'integer', minimum: 0 },
  },
  (value) => {
    const complaint = integer(value);
    if (complaint !== undefined || (value as number) >= 0) return complaint;
    const message = 'Input should be greater than or equal to 0';
    return { type: 'greater_than_equal', message, context: { ge: 0 } };
  },
);

/** A list of at most `most` items. The first faulty item is reported. */
export function arrayOf<Value>(item: Shape<Value>, most = Infinity): Shape<readonly Value[]> {
  const name = {
    expected: `an array of ${item.plural}`,
    plural: `arrays of ${item.plural}`,
    branch: `list[${item.branch}]`,
    schema: {
      type: 'array',
      items: item.schema,
      ...(most === Infinity ? {} : { maxItems: most }),
    },
  };
  const itself = leaf(name, (value) => {
    if (!Array.isArray(value)) {
      return { type: 'list_type', message: 'Input should be a valid list' };
    }
    return value.length > most ? tooLong(value.length, most) : undefined;
  });
  const check = (value: unknown): readonly SchemaFault[] => {
    const faults = itself.check(value);
    if (faults.length > 0 || !Array.isArray(value)) return faults;
    for (let i = 0; i < value.length; i++) {
      const inner = item.check(value[i]);
      if (inner.length > 0) return inner.map((fault) => below(i, fault));
    }
    return FITS;
  };
  return { ...name, check };
}

function tooLong(actual: number, most: number): Complaint {
  return {
    type: 'too_long',
    message: `List should have at most ${most} items after validation, not ${actual}`,
    context: { field_type: 'List', max_length: most, actual_length: actual },
  };
}

type Fits<One> = One extends Shape<infer Value> ? Value : never;

/**
 * The first branch that accepts wins. Otherwise the faults of all branches are listed, as in
 * pydantic.
 */
export function anyOf<All extends readonly Shape[]>(...branches: All): Shape<Fits<All[number]>> {
  const expected = branches.map((shape) => shape.expected).join(' or ');
  const check = (value: unknown): readonly SchemaFault[] => {
    const faults: SchemaFault[] = [];
    for (const shape of branches) {
      const own = shape.check(value);
      if (own.length === 0) return FITS;
      for (const fault of own) {
        const isOwn = fault.place.length === 0;
        const location = [shape.branch, ...fault.location];
        faults.push({ ...fault, location, ...(isOwn ? { expected } : {}) });
      }
    }
    return faults;
  };
  const schema = { anyOf: branches.map((shape) => shape.schema) };
  return { expected, plural: expected, branch: 'union', schema, check };
}

/** An object whose values all have one shape. */
export function mapOf<Value>(value: Shape<Value>): Shape<Readonly<Record<string, Value>>> {
  const check = (map: unknown): readonly SchemaFault[] => {
    if (!isObject(map)) return OBJECT.check(map);
    for (const [key, one] of Object.entries(map)) {
      const faults = value.check(one);
      if (faults.length > 0) return faults.map((fault) => below(key, fault));
    }
    return FITS;
  };
  const { expected, plural, branch } = OBJECT;
  const schema = { type: 'object', additionalProperties: value.schema };
  return { expected, plural, branch, schema, check };
}

export interface Field<Value = unknown> {
  readonly shape: Shape<Value>;
  readonly isRequired?: boolean;
}

type Fields = Readonly<Record<string, Field>>;
type FitsFields<All extends Fields> = {
  readonly [Name in keyof All]?: Fits<All[Name]['shape']> | null;
};

/** Fields by name; other fields pass. Null counts as absent except for required fields. */
export function recordOf<All extends Fields>(fields: All): Shape<FitsFields<All>> {
  const named = Object.entries(fields);
  const check = (value: unknown): readonly SchemaFault[] => {
    if (!isObject(value)) return OBJECT.check(value);
    const faults: SchemaFault[] = [];
    for (const [name, field] of named) {
      for (const fault of checkField(value[name], field, value)) faults.push(below(name, fault));
    }
    return faults;
  };
  const { expected, plural, branch } = OBJECT;
  return { expected, plural, branch, schema: objectSchema(fields), check };
}

/** Null counts as absent, except for required fields. */
export function objectSchema(fields: Fields): JsonSchema {
  const all = Object.entries(fields);
  const properties = all.map(([name, { shape, isRequired }]) => [
    name,
    isRequired === true ? shape.schema : { anyOf: [shape.schema, { type: 'null' }] },
  ]);
  const required = all.filter(([, field]) => field.isRequired === true).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** A field's own faults, or the fault that `owner` lacks it. */
export function checkField(value: unknown, field: Field, owner: unknown): readonly SchemaFault[] {
  if (value !== undefined && value !== null) return field.shape.check(value);
  if (field.isRequired !== true) return FITS;
  const name = { place: [], location: [], input: owner, expected: field.shape.expected };
  return [{ ...name, type: 'missing', message: 'Field required' }];
}

/** A fault with its place relative to the parent. */
export function below(step: string | number, fault: SchemaFault): SchemaFault {
  return { ...fault, place: [step, ...fault.place], location: [step, ...fault.location] };
}
