import { type Json, jsonKey, type JsonType } from '../json';
import { buildArray } from './build-array';
import { buildNumber } from './build-number';
import { buildObject } from './build-object';
import { type Choice, expand, type Expansion } from './expand';
import type { SchemaNode } from './schema-node';
import {
  type Built,
  type BuilderTools,
  type SearchFailure,
  NONE,
  pointerOf,
  type Search,
  type Wish,
} from './search';

const MAX_DEPTH = 64;
/**
 * Number of values tried per type, because `not`, `oneOf` and similar keywords are tested, not
 * constructed.
 */
const ATTEMPTS = 40;
const COMPOSITE_ATTEMPTS = 12;
/**
 * Steps below the root down to which a lean value takes the type that its keywords suggest, not the
 * cheapest one.
 */
const MAX_HINT_DEPTH = 4;
/** Chance that a `default` or an example becomes the value. */
const SUGGESTION_CHANCE = 0.4;
const PLAIN_TYPES: readonly JsonType[] = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/**
 * Searches for a value that fulfils several schemas at once. Choices (`anyOf`, `oneOf`, conditions,
 * types) are tried one after the other in a random order. The keywords of a type are constructed.
 * Every value is checked before it is returned.
 */
export class InstanceBuilder implements Search {
  failure: SearchFailure | undefined;

  constructor(readonly tools: BuilderTools) {}

  easeAt(depth: number): number {
    return Math.max(0, this.tools.ease - Math.floor(depth / 2));
  }

  build(wish: Wish): Built {
    this.tools.budget.spend();
    const before = this.failure;
    const value =
      wish.depth > MAX_DEPTH
        ? this.fail(wish.nodes[0]?.pointer ?? '', 'nested too deeply')
        : this.search(wish, { taken: new Set(), nodes: wish.nodes, nots: wish.nots ?? [] });
    if (value !== NONE) this.failure = before;
    return value;
  }

  fail(pointer: string, reason: string): typeof NONE {
    this.failure ??= { pointer, reason };
    return NONE;
  }

  private search(wish: Wish, state: SearchState): Built {
    this.tools.budget.spend();
    const expansion = expand(state.nodes, state.nots, state.taken);
    const impossible = expansion.nodes.find(({ isPossible }) => !isPossible);
    if (impossible !== undefined) return this.fail(impossible.pointer, 'no value is allowed here');
    const universal = expansion.nots.find(({ isTrivial }) => isTrivial);
    if (universal !== undefined) return this.fail(universal.pointer, 'this excludes every value');
    if (typesOf(expansion.nodes).length === 0) {
      return this.fail(pointerOf(expansion.nodes), 'the types exclude each other');
    }
    const [choice] = expansion.choices;
    if (choice === undefined) return this.plain(wish, expansion);
    const taken = new Set([...state.taken, choice.pointer]);
    for (const { nodes, nots } of this.ordered(choice, wish.depth)) {
      const more = { nodes: [...state.nodes, ...nodes], nots: [...state.nots, ...nots] };
      const value = this.search(wish, { taken, ...more });
      if (value !== NONE) return value;
    }
    return NONE;
  }

  private ordered({ options }: Choice, depth: number): Choice['options'] {
    const { costs } = this.tools;
    const possible = options.filter(({ nodes }) => costs.ofAll(nodes) < Infinity);
    if (possible.length === 0) return options;
    if (this.easeAt(depth) > 0) return this.shuffled(possible);
    return possible.toSorted((a, b) => costs.ofAll(a.nodes) - costs.ofAll(b.nodes));
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const rest = [...items];
    for (let i = rest.length - 1; i > 0; i--) {
      const j = this.tools.random.integer(i + 1);
      [rest[i], rest[j]] = [rest[j]!, rest[i]!];
    }
    return rest;
  }

  /** A value of schemas without open choices. */
  private plain(wish: Wish, expansion: Expansion): Built {
    const { nodes } = expansion;
    const isGood = (value: Json): boolean => this.isGood(value, wish, expansion);
    const listed = nodes.find((node) => node.values !== undefined);
    if (listed?.values !== undefined) {
      const value = this.ordering(listed.values, wish).find(isGood);
      return value === undefined ? this.fail(listed.pointer, 'no listed value fits') : value;
    }
    const suggested = this.suggestion(wish, nodes).find(isGood);
    if (suggested !== undefined) return suggested;
    for (const type of this.orderedTypes(nodes, wish.depth)) {
      const isComposite = type === 'array' || type === 'object';
      for (let i = isComposite ? COMPOSITE_ATTEMPTS : ATTEMPTS; i > 0; i--) {
        const value = this.ofType(type, wish, expansion);
        if (value === NONE) break;
        if (isGood(value)) return value;
      }
    }
    return this.fail(pointerOf(nodes), 'the keywords allow no value');
  }

  private isGood(value: Json, wish: Wish, { nodes, nots }: Expansion): boolean {
    const { validator } = this.tools;
    if (wish.avoid?.has(jsonKey(value)) === true) return false;
    return (
      nodes.every((node) => validator.satisfies(node, value)) &&
      !nots.some((node) => validator.satisfies(node, value))
    );
  }

  private ordering(values: readonly Json[], { depth }: Wish): readonly Json[] {
    if (this.easeAt(depth) > 0 || this.tools.ease > 0) return this.shuffled(values);
    return values.toSorted((a, b) => jsonKey(a).length - jsonKey(b).length);
  }

  private suggestion({ depth }: Wish, nodes: readonly SchemaNode[]): readonly Json[] {
    const suggestions = nodes.flatMap((node) => node.suggestions);
    if (suggestions.length === 0 || this.easeAt(depth) === 0) return [];
    if (this.tools.random.unit() >= SUGGESTION_CHANCE) return [];
    return this.shuffled(suggestions);
  }

  private orderedTypes(nodes: readonly SchemaNode[], depth: number): JsonType[] {
    const types = typesOf(nodes);
    const { costs } = this.tools;
    const costOf = (type: JsonType): number =>
      Math.max(...nodes.map((node) => costs.ofType(type, node)));
    const finite = types.filter((type) => costOf(type) < Infinity);
    // When no type has a value, this attempt finds the place of the fault.
    const possible = finite.length === 0 ? types : finite;
    const isFree = types.length === PLAIN_TYPES.length;
    if (isFree && (this.easeAt(depth) > 0 || depth <= MAX_HINT_DEPTH))
      return byHints(nodes, possible);
    if (this.easeAt(depth) > 0) return this.shuffled(possible);
    return possible.toSorted((a, b) => costOf(a) - costOf(b));
  }

  private ofType(type: JsonType, wish: Wish, { nodes, nots }: Expansion): Built {
    const { random, strings } = this.tools;
    const avoid = wish.avoid ?? NOTHING_TAKEN;
    const ease = this.easeAt(wish.depth);
    const pointer = pointerOf(nodes);
    switch (type) {
      case 'null':
        return null;
      case 'boolean':
        return random.integer(2) === 1;
      case 'integer':
      case 'number': {
        const isInteger = type === 'integer';
        const value = buildNumber({ nodes, isInteger, random, avoid });
        return value ?? this.fail(pointer, 'the bounds and steps allow no number');
      }
      case 'string': {
        const text = strings.build({ nodes, nots, random, ease });
        return text ?? this.fail(pointer, 'the lengths, patterns and formats allow no text');
      }
      case 'array':
        return buildArray(this, { ...wish, nodes });
      case 'object':
        return buildObject(this, { ...wish, nodes });
    }
  }
}

interface SearchState {
  /** Pointers of the choices already taken. */
  readonly taken: ReadonlySet<string>;
  readonly nodes: readonly SchemaNode[];
  readonly nots: readonly SchemaNode[];
}

const NOTHING_TAKEN: ReadonlySet<string> = new Set();

/** Types that all schemas allow; `integer` where one of them requires it. */
function typesOf(nodes: readonly SchemaNode[]): JsonType[] {
  const all: JsonType[] = [...PLAIN_TYPES];
  const allowed = all.filter((type) =>
    nodes.every(
      ({ types }) =>
        types === undefined || types.has(type) || (type === 'number' && types.has('integer')),
    ),
  );
  const wantsInteger = nodes.some(({ types }) => types !== undefined && !types.has('number'));
  return allowed.map((type) => (type === 'number' && wantsInteger ? 'integer' : type));
}

/**
 * The types that other keywords suggest in the absence of `type`: `properties` an object, `minimum`
 * a number.
 */
function byHints(nodes: readonly SchemaNode[], types: readonly JsonType[]): JsonType[] {
  const isHinted = (type: JsonType): boolean =>
    nodes.some(({ array, object, number, string }) => {
      switch (type) {
        case 'object':
          return (
            object.isDescribed ||
            object.required.length > 0 ||
            object.minProperties > 0 ||
            object.additional !== undefined ||
            object.patterns.length > 0
          );
        case 'array':
          return (
            array.prefix.length > 0 ||
            array.rest !== undefined ||
            array.minItems > 0 ||
            array.contains !== undefined
          );
        case 'number':
          return Object.values(number).some((bound) => bound !== undefined);
        case 'string':
          return (
            string.pattern !== undefined || string.format !== undefined || string.minLength > 0
          );
        default:
          return false;
      }
    });
  const hinted = types.filter(isHinted);
  return [...hinted, ...types.filter((type) => !hinted.includes(type))];
}
