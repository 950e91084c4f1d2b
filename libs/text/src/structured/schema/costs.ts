import { spendWork } from '@baton/kernel';
import type { JsonType } from '../json';
import type { SchemaNode } from './schema-node';

/**
 * Limit of schemas measured in the search for cheaper ways. In a good order, each is measured
 * twice.
 */
const MAX_LOOKS = 2_000_000;
/** Characters of the shortest value of a type that has no keywords of its own. */
const BARE: Readonly<Record<Exclude<JsonType, 'string' | 'array' | 'object'>, number>> = {
  null: 4,
  boolean: 4,
  integer: 1,
  number: 1,
};
const TYPES: readonly JsonType[] = [
  'null',
  'boolean',
  'integer',
  'number',
  'string',
  'array',
  'object',
];

/**
 * The approximate length, in characters, of the shortest value of each schema. Infinity: there is
 * no value, or every value is infinitely deep. A search that always takes the cheapest way ends,
 * also for schemas that refer to themselves.
 */
export class SchemaCosts {
  private readonly costs = new Map<SchemaNode, number>();

  constructor(roots: readonly SchemaNode[]) {
    const nodes = reachable(roots);
    for (let looks = 0; looks < MAX_LOOKS; looks += nodes.length) {
      spendWork(nodes.length);
      let isStable = true;
      for (const node of nodes) {
        const cost = this.measure(node);
        if (cost === this.of(node)) continue;
        this.costs.set(node, cost);
        isStable = false;
      }
      if (isStable) break;
    }
  }

  of(node: SchemaNode): number {
    return this.costs.get(node) ?? Infinity;
  }

  /** The cost of a value that fulfils all of the schemas. */
  ofAll(nodes: readonly SchemaNode[]): number {
    return nodes.reduce((most, node) => Math.max(most, this.of(node)), 0);
  }

  /** The cost of a value of this type, by the keywords of the schema itself. */
  ofType(type: JsonType, node: SchemaNode): number {
    switch (type) {
      case 'string':
        return 2 + node.string.minLength;
      case 'array':
        return this.ofArray(node);
      case 'object':
        return this.ofObject(node);
      default:
        return BARE[type];
    }
  }

  private measure(node: SchemaNode): number {
    if (!node.isPossible) return Infinity;
    const { ref, allOf, anyOf, oneOf } = node.logic;
    const parts = [this.ofShape(node), ...allOf.map((one) => this.of(one))];
    if (ref !== undefined) parts.push(this.of(ref));
    for (const options of [anyOf, oneOf]) {
      if (options.length > 0) parts.push(Math.min(...options.map((one) => this.of(one))));
    }
    return Math.max(...parts);
  }

  private ofShape(node: SchemaNode): number {
    if (node.valueKeys !== undefined) return shortest(node.valueKeys);
    const types = node.types === undefined ? TYPES : [...node.types];
    return Math.min(...types.map((type) => this.ofType(type, node)));
  }

  private ofArray({ array }: SchemaNode): number {
    const { prefix, rest, contains } = array;
    const items: number[] = [];
    const needed = contains === undefined ? 0 : array.minContains;
    for (let i = 0; i < Math.max(array.minItems, needed) && i <= prefix.length; i++) {
      const own = prefix[i] ?? rest;
      items.push(own === undefined ? 1 : this.of(own));
    }
    const beyond = Math.max(0, array.minItems - items.length);
    const last = items.at(-1) ?? 0;
    const containing = contains === undefined || needed === 0 ? 0 : this.of(contains);
    // Zero items are not multiplied: 0 times Infinity is NaN.
    const repeated = beyond === 0 ? 0 : beyond * last;
    return 2 + items.reduce((sum, cost) => sum + cost, 0) + repeated + containing;
  }

  private ofObject({ object }: SchemaNode): number {
    let cost = 2 + 4 * object.minProperties;
    for (const name of object.required) {
      const member = object.properties.get(name);
      cost += name.length + 6 + (member === undefined ? 0 : this.of(member));
    }
    return cost;
  }
}

function shortest(keys: ReadonlySet<string>): number {
  let least = Infinity;
  for (const key of keys) least = Math.min(least, key.length);
  return least;
}

/**
 * All schemas that a value of the roots can depend on, each after its parts where there is no
 * cycle.
 */
function reachable(roots: readonly SchemaNode[]): SchemaNode[] {
  const seen = new Set<SchemaNode>();
  const open = [...roots];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    open.push(...childrenOf(node));
  }
  return [...seen].reverse();
}

function childrenOf({ array, object, logic }: SchemaNode): SchemaNode[] {
  const { ref, allOf, anyOf, oneOf, not, when } = logic;
  const maybe = [
    array.rest,
    array.contains,
    array.unevaluated,
    object.additional,
    object.names,
    object.unevaluated,
    ref,
    not,
    when?.condition,
    when?.then,
    when?.otherwise,
  ];
  return [
    ...maybe.filter((node) => node !== undefined),
    ...array.prefix,
    ...object.properties.values(),
    ...object.patterns.map(({ node }) => node),
    ...object.dependentSchemas.values(),
    ...allOf,
    ...anyOf,
    ...oneOf,
  ];
}
