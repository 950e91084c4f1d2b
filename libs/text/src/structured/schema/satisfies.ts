import {
  codePointsOf,
  isJsonArray,
  isJsonObject,
  type Json,
  jsonKey,
  type JsonObject,
  type JsonType,
} from '../json';
import { evaluatedItems, evaluatedProperties } from './evaluated';
import { RegexError } from '../regex/regex-error';
import { ConstraintError } from '../constraint-error';
import { isOfFormat } from './formats';
import type { SchemaNode } from './schema-node';
import type { WorkBudget } from './work-budget';

/** Depth beyond that of any generated value. */
const MAX_DEPTH = 300;
/** Characters of a text whose check costs as much as one value. */
const CHARACTERS_PER_UNIT = 64;

/**
 * Checks values against schemas: all of their keywords, patterns in linear time. It uses up
 * `budget`, and throws when none is left.
 */
export class Validator {
  /** Schemas under evaluation; those for enclosing values come first. */
  private readonly requested: SchemaNode[] = [];
  /** Index of the first one for the present value. */
  private base = 0;

  constructor(private readonly budget: WorkBudget) {}

  satisfies(node: SchemaNode, value: Json): boolean {
    this.budget.spend();
    if (!node.isPossible || this.requested.length > MAX_DEPTH) return false;
    // A schema that refers back to itself at the same value can never accept it.
    if (this.requested.indexOf(node, this.base) !== -1) return false;
    this.requested.push(node);
    const isFulfilled =
      isOfTypes(node.types, value) &&
      (node.valueKeys === undefined || node.valueKeys.has(jsonKey(value))) &&
      this.isOfKind(node, value) &&
      this.isLogical(node, value);
    this.requested.pop();
    return isFulfilled;
  }

  /** Like `satisfies`, for a value inside the current one. */
  isMember(node: SchemaNode, value: Json): boolean {
    const before = this.base;
    this.base = this.requested.length;
    const isFulfilled = this.satisfies(node, value);
    this.base = before;
    return isFulfilled;
  }

  private isOfKind(node: SchemaNode, value: Json): boolean {
    if (typeof value === 'number') return isInBounds(node, value);
    if (typeof value === 'string') {
      this.budget.spend(value.length / CHARACTERS_PER_UNIT);
      return isText(node, value);
    }
    if (isJsonArray(value)) return this.isArray(node, value);
    return !isJsonObject(value) || this.isObject(node, value);
  }

  private isLogical({ logic }: SchemaNode, value: Json): boolean {
    const fits = (node: SchemaNode): boolean => this.satisfies(node, value);
    const { ref, allOf, anyOf, oneOf, not, when } = logic;
    if (ref !== undefined && !fits(ref)) return false;
    if (!allOf.every(fits)) return false;
    if (anyOf.length > 0 && !anyOf.some(fits)) return false;
    if (oneOf.length > 0 && oneOf.filter(fits).length !== 1) return false;
    if (not !== undefined && fits(not)) return false;
    if (when === undefined) return true;
    const chosen = fits(when.condition) ? when.then : when.otherwise;
    return chosen === undefined || fits(chosen);
  }

  private isArray(node: SchemaNode, value: readonly Json[]): boolean {
    const { array } = node;
    if (value.length < array.minItems || value.length > array.maxItems) return false;
    const { prefix, rest, contains } = array;
    const isFitting = (item: Json, i: number): boolean => {
      const own = prefix[i] ?? rest;
      return own === undefined || this.isMember(own, item);
    };
    if (!value.every(isFitting)) return false;
    if (array.isUnique && new Set(value.map(jsonKey)).size !== value.length) return false;
    if (contains !== undefined) {
      const found = value.filter((item) => this.isMember(contains, item)).length;
      if (found < array.minContains || found > array.maxContains) return false;
    }
    const { unevaluated } = array;
    if (unevaluated === undefined) return true;
    const seen = evaluatedItems(node, value, this);
    return value.every((item, i) => seen.has(i) || this.isMember(unevaluated, item));
  }

  private isObject(node: SchemaNode, value: JsonObject): boolean {
    const { object } = node;
    const names = Object.keys(value);
    if (names.length < object.minProperties || names.length > object.maxProperties) return false;
    const has = (name: string): boolean => Object.hasOwn(value, name);
    if (!object.required.every(has)) return false;
    for (const [name, others] of object.dependentRequired) {
      if (has(name) && !others.every(has)) return false;
    }
    for (const [name, schema] of object.dependentSchemas) {
      if (has(name) && !this.satisfies(schema, value)) return false;
    }
    const { names: nameSchema, unevaluated } = object;
    for (const name of names) {
      if (nameSchema !== undefined && !this.isMember(nameSchema, name)) return false;
      const nodes = memberNodes(node, name);
      if (!nodes.every((member) => this.isMember(member, value[name]!))) return false;
    }
    if (unevaluated === undefined) return true;
    const seen = evaluatedProperties(node, value, this);
    return names.every((name) => seen.has(name) || this.isMember(unevaluated, value[name]!));
  }
}

/** The schemas that one schema alone applies to a property. */
export function memberNodes({ object }: SchemaNode, name: string): SchemaNode[] {
  const nodes: SchemaNode[] = [];
  const own = object.properties.get(name);
  if (own !== undefined) nodes.push(own);
  for (const { pattern, node } of object.patterns) {
    if (pattern.matches(name, 'anywhere')) nodes.push(node);
  }
  if (nodes.length === 0 && object.additional !== undefined) nodes.push(object.additional);
  return nodes;
}

export function typeOf(value: Json): JsonType {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'array';
  if (typeof value === 'object') return 'object';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' ? 'string' : 'boolean';
}

export function isOfTypes(types: ReadonlySet<JsonType> | undefined, value: Json): boolean {
  if (types === undefined) return true;
  const type = typeOf(value);
  return types.has(type) || (type === 'integer' && types.has('number'));
}

export function isInBounds({ number }: SchemaNode, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = number;
  if (minimum !== undefined && value < minimum) return false;
  if (maximum !== undefined && value > maximum) return false;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return false;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return false;
  return multipleOf === undefined || Number.isInteger(value / multipleOf);
}

function isText({ string, pointer }: SchemaNode, value: string): boolean {
  const { minLength, maxLength, pattern, format } = string;
  if (minLength > 0 || maxLength < Infinity) {
    const length = codePointsOf(value);
    if (length < minLength || length > maxLength) return false;
  }
  try {
    const isMatched = pattern === undefined || pattern.matches(value, 'anywhere');
    return isMatched && isOfFormat(format, value);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new ConstraintError(error.message, pointer);
  }
}
