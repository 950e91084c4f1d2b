import type { Json, JsonObject } from '../json';
import type { Validator } from './satisfies';
import type { SchemaNode } from './schema-node';

/**
 * The items that `unevaluatedItems` does not apply to: those that the schema, or another that
 * applies to the same array, has evaluated.
 */
export function evaluatedItems(
  node: SchemaNode,
  value: readonly Json[],
  validator: Validator,
): Set<number> {
  const seen = new Set<number>();
  visit(node, value, {
    validator,
    take: ({ array }) => {
      const { prefix, rest, contains } = array;
      value.forEach((item, i) => {
        const isLooked = i < prefix.length || rest !== undefined;
        if (isLooked || (contains !== undefined && validator.isMember(contains, item))) seen.add(i);
      });
    },
  });
  return seen;
}

/** The properties that `unevaluatedProperties` does not apply to. */
export function evaluatedProperties(
  node: SchemaNode,
  value: JsonObject,
  validator: Validator,
): Set<string> {
  const seen = new Set<string>();
  visit(node, value, {
    validator,
    take: ({ object }) => {
      for (const name of Object.keys(value)) {
        const isNamed =
          object.properties.has(name) ||
          object.additional !== undefined ||
          object.patterns.some(({ pattern }) => pattern.matches(name, 'anywhere'));
        if (isNamed) seen.add(name);
      }
    },
  });
  return seen;
}

interface Visit {
  readonly validator: Validator;
  readonly take: (node: SchemaNode) => void;
}

/** Visits the schema and all subschemas that apply to the same value and accept it. */
function visit(node: SchemaNode, value: Json, { validator, take }: Visit): void {
  const seen = new Set<SchemaNode>();
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    take(next);
    const { ref, allOf, anyOf, oneOf, when } = next.logic;
    const isAlso = (other: SchemaNode): boolean => validator.satisfies(other, value);
    open.push(...allOf, ...[...anyOf, ...oneOf].filter(isAlso));
    if (ref !== undefined) open.push(ref);
    for (const [name, schema] of next.object.dependentSchemas) {
      if (value !== null && typeof value === 'object' && Object.hasOwn(value, name))
        open.push(schema);
    }
    if (when === undefined) continue;
    const holds = isAlso(when.condition);
    const chosen = holds ? when.then : when.otherwise;
    if (holds) open.push(when.condition);
    if (chosen !== undefined) open.push(chosen);
  }
}
