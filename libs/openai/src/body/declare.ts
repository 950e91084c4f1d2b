import {
  IsObject,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import type { Complaint } from '../refusal/request-error';
import type { JsonSchema } from './json-schema';

/** How vLLM reports a value out of range. Default: without the name of the field. */
interface Reported {
  /** By its schema, as a wrong type; or by a check that names the field. */
  readonly vllm: 'schema' | 'named';
}

export const BY_SCHEMA = { context: { vllm: 'schema' } satisfies Reported };
export const NAMED = { context: { vllm: 'named' } satisfies Reported };

export interface WrongValue {
  readonly at: string | number;
  readonly value: unknown;
  readonly expected: string;
}

/** A type that the library has no decorator for. */
export interface OwnType {
  /** With its article, for the sentence of an error. */
  readonly expected: string;
  readonly schema: JsonSchema;
  readonly fits: (value: unknown) => boolean;
  /** True for one of several types: vLLM then names no place within the value. */
  readonly isUnion?: boolean;
  /** The first wrong value in a list or an object that does not fit. */
  readonly wrongIn?: (value: unknown) => WrongValue | undefined;
}

export const IS = 'is';
export const HOLDS = 'holds';

/** The value is of this type. */
export function Is(type: OwnType): PropertyDecorator {
  return ValidateBy({
    name: IS,
    constraints: [type],
    validator: { validate: type.fits, defaultMessage: () => type.expected },
  });
}

/** What is wrong with a value beside the other fields of its body. Undefined: nothing. */
export type Check<Value = unknown, Body = unknown> = (
  value: Value,
  body: Body,
) => Complaint | undefined;

/**
 * The value keeps a rule that the library has no decorator for, or one between fields. It stands
 * above the type of the field, because decorators are checked from below.
 */
export function Holds<Value, Body = unknown>(
  check: Check<Value, Body>,
  { schema = {}, ...options }: ValidationOptions & { readonly schema?: JsonSchema } = {},
): PropertyDecorator {
  return ValidateBy(
    {
      name: HOLDS,
      constraints: [check, schema],
      validator: {
        validate: (value, args) => check(value as Value, args?.object as Body) === undefined,
        defaultMessage: () => 'a rule is broken',
      },
    },
    options,
  );
}

/** A text also passes, whatever the other decorators of the field require. */
export function OrText(): PropertyDecorator {
  return (target, property) =>
    ValidateIf((body: object) => typeof Reflect.get(body, property) !== 'string', OR_TEXT)(
      target,
      property,
    );
}

const OR_TEXT = { context: { orText: true } };

export function isOrText({ context }: { readonly context?: unknown }): boolean {
  return context === OR_TEXT.context;
}

/** A class of bodies, or of objects in them. */
export type BodyClass<Body extends object = object> = new () => Body;

const typesOf = new WeakMap<object, Map<string, BodyClass>>();

/** The value, or each item of a list with `each`, is an object of this class. */
export function Nested(
  type: BodyClass,
  options: { readonly each?: boolean } = {},
): PropertyDecorator {
  return (target, property) => {
    const types = typesOf.get(target) ?? new Map<string, BodyClass>();
    typesOf.set(target, types.set(String(property), type));
    ValidateNested(options)(target, property);
    // The library takes a list for an object.
    IsObject(options)(target, property);
  };
}

const allTypes = new WeakMap<BodyClass, ReadonlyMap<string, BodyClass>>();

/** The classes of the nested fields of a class, with those of its bases. */
export function typesIn(body: BodyClass): ReadonlyMap<string, BodyClass> {
  const known = allTypes.get(body);
  if (known !== undefined) return known;
  const all = new Map<string, BodyClass>();
  let one = body.prototype as object | null;
  for (; one !== null; one = Object.getPrototypeOf(one) as object | null) {
    for (const [name, type] of typesOf.get(one) ?? []) if (!all.has(name)) all.set(name, type);
  }
  allTypes.set(body, all);
  return all;
}

const ignoredIn = new WeakMap<object, ReadonlySet<string>>();

/**
 * The openai dialect refuses fields that the class does not declare, except for these. It accepts
 * any field of other classes.
 */
export function RefusesUnknown(except: ReadonlySet<string> = new Set()): ClassDecorator {
  return (target) => void ignoredIn.set(target, except);
}

/** The undeclared fields that a class accepts; undefined: any. */
export function acceptedIn(target: object): ReadonlySet<string> | undefined {
  for (
    let one: object | null = target;
    one !== null;
    one = Object.getPrototypeOf(one) as object | null
  ) {
    const found = ignoredIn.get(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
