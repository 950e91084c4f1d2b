import type { Json, JsonType } from '../json';
import type { Pattern } from '../regex/pattern';

/**
 * A JSON Schema, read and checked: the conditions of its keywords, in one form for draft 4 to
 * 2020-12 and OpenAPI's `nullable`.
 */
export interface SchemaNode {
  /** JSON pointer of the schema in its document. */
  readonly pointer: string;
  /** False for the schema `false`. */
  readonly isPossible: boolean;
  /** True for the schema `true`, and for one whose keywords set no condition. */
  readonly isTrivial: boolean;
  readonly types: ReadonlySet<JsonType> | undefined;
  /** `enum` or `const`. */
  readonly values: readonly Json[] | undefined;
  /** Keys (`jsonKey`) of these values. */
  readonly valueKeys: ReadonlySet<string> | undefined;
  /** `default` and `examples`. */
  readonly suggestions: readonly Json[];
  readonly number: NumberKeywords;
  readonly string: StringKeywords;
  readonly array: ArrayKeywords;
  readonly object: ObjectKeywords;
  readonly logic: LogicKeywords;
}

export interface NumberKeywords {
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: number | undefined;
  readonly exclusiveMaximum: number | undefined;
  readonly multipleOf: number | undefined;
}

export interface StringKeywords {
  readonly minLength: number;
  readonly maxLength: number;
  readonly pattern: Pattern | undefined;
  readonly format: string | undefined;
}

export interface ArrayKeywords {
  readonly prefix: readonly SchemaNode[];
  /** Schema of the items after the prefix. Undefined: any value. */
  readonly rest: SchemaNode | undefined;
  readonly contains: SchemaNode | undefined;
  readonly minContains: number;
  readonly maxContains: number;
  readonly minItems: number;
  readonly maxItems: number;
  readonly isUnique: boolean;
  readonly unevaluated: SchemaNode | undefined;
}

export interface ObjectKeywords {
  /** Whether `properties` is present, even if empty: then no other properties are invented. */
  readonly isDescribed: boolean;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly patterns: readonly { readonly pattern: Pattern; readonly node: SchemaNode }[];
  /** Schema of the properties that the two fields above do not cover. Undefined: any value. */
  readonly additional: SchemaNode | undefined;
  readonly names: SchemaNode | undefined;
  readonly required: readonly string[];
  readonly minProperties: number;
  readonly maxProperties: number;
  readonly dependentRequired: ReadonlyMap<string, readonly string[]>;
  readonly dependentSchemas: ReadonlyMap<string, SchemaNode>;
  readonly unevaluated: SchemaNode | undefined;
}

export interface LogicKeywords {
  readonly ref: SchemaNode | undefined;
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
  readonly when: ConditionKeywords | undefined;
}

export interface ConditionKeywords {
  readonly condition: SchemaNode;
  readonly then: SchemaNode | undefined;
  readonly otherwise: SchemaNode | undefined;
}

const NO_NODES: readonly SchemaNode[] = [];

/** The conditions of a schema without keywords: none. */
export const FREE: Omit<SchemaNode, 'pointer'> = {
  isPossible: true,
  isTrivial: false,
  types: undefined,
  values: undefined,
  valueKeys: undefined,
  suggestions: [],
  number: {
    minimum: undefined,
    maximum: undefined,
    exclusiveMinimum: undefined,
    exclusiveMaximum: undefined,
    multipleOf: undefined,
  },
  string: { minLength: 0, maxLength: Infinity, pattern: undefined, format: undefined },
  array: {
    prefix: NO_NODES,
    rest: undefined,
    contains: undefined,
    minContains: 1,
    maxContains: Infinity,
    minItems: 0,
    maxItems: Infinity,
    isUnique: false,
    unevaluated: undefined,
  },
  object: {
    isDescribed: false,
    properties: new Map(),
    patterns: [],
    additional: undefined,
    names: undefined,
    required: [],
    minProperties: 0,
    maxProperties: Infinity,
    dependentRequired: new Map(),
    dependentSchemas: new Map(),
    unevaluated: undefined,
  },
  logic: {
    ref: undefined,
    allOf: NO_NODES,
    anyOf: NO_NODES,
    oneOf: NO_NODES,
    not: undefined,
    when: undefined,
  },
};

/** The schema of objects that have some properties and lack others. */
export function presenceNode(
  pointer: string,
  { present = [], absent = [] }: { present?: readonly string[]; absent?: readonly string[] },
): SchemaNode {
  const none: SchemaNode = { ...FREE, pointer, isPossible: false };
  const properties = new Map(absent.map((name) => [name, none]));
  return { ...FREE, pointer, object: { ...FREE.object, required: present, properties } };
}
