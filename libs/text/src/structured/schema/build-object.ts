import { spendWork } from '@baton/kernel';
import { type Json, jsonObject } from '../json';
import { everything } from '../regex/automaton';
import { StringLanguage } from '../regex/string-language';

import { writeName } from '../write-words';
import { memberNodes } from './satisfies';
import { FREE, type SchemaNode } from './schema-node';
import { type Built, NONE, pointerOf, type Search, type Wish } from './search';

/** Chance of each property that is not required. */
const OPTIONAL_CHANCE = 0.6;
const NAME_ATTEMPTS = 40;
/** Limit of properties of an object; no output has room for more. */
const MAX_PROPERTIES = 10_000;
const TEXT: SchemaNode = { ...FREE, pointer: '', types: new Set(['string']) };

/** Builds an object with all required properties, some others, and at least the required number. */
export function buildObject(builder: Search, wish: Wish): Built {
  return new ObjectBuilder(builder, wish).build();
}

class ObjectBuilder {
  private readonly nodes: readonly SchemaNode[];
  private readonly min: number;
  private readonly max: number;
  private readonly required: ReadonlySet<string>;
  private readonly values = new Map<string, Json>();

  constructor(
    private readonly builder: Search,
    private readonly wish: Wish,
  ) {
    this.nodes = wish.nodes;
    this.min = Math.max(...this.nodes.map(({ object }) => object.minProperties));
    this.max = Math.min(...this.nodes.map(({ object }) => object.maxProperties));
    this.required = this.closed(this.nodes.flatMap(({ object }) => object.required));
  }

  build(): Built {
    if (this.min > MAX_PROPERTIES) {
      return this.builder.fail(pointerOf(this.nodes), 'too many properties');
    }
    const chosen = this.chosen();
    for (const name of chosen) {
      if (this.add(name)) continue;
      if (this.required.has(name)) return NONE;
    }
    if (!this.fill()) {
      return this.builder.fail(pointerOf(this.nodes), 'too few properties are allowed');
    }
    if (this.values.size > this.max) {
      return this.builder.fail(pointerOf(this.nodes), 'more properties are required than allowed');
    }
    return jsonObject(this.values);
  }

  /**
   * Names in the order of their descriptions in the schemas; required names without a description
   * last.
   */
  private chosen(): string[] {
    const described = new Set(this.nodes.flatMap(({ object }) => [...object.properties.keys()]));
    spendWork(described.size);
    const optional = [...described].filter((name) => !this.required.has(name));
    const room = this.max - this.required.size;
    const wanted = new Set(optional.filter(() => this.isWanted()).slice(0, Math.max(0, room)));
    const names = this.closed([...this.required, ...wanted]);
    const all = names.size <= this.max ? names : this.required;
    return [...described]
      .filter((name) => all.has(name))
      .concat([...all].filter((n) => !described.has(n)));
  }

  private isWanted(): boolean {
    const ease = this.builder.easeAt(this.wish.depth);
    return ease > 0 && this.builder.tools.random.unit() < OPTIONAL_CHANCE;
  }

  /** The names, with those that `dependentRequired` adds. */
  private closed(names: readonly string[]): Set<string> {
    const all = new Set(names);
    for (const name of all) {
      for (const { object } of this.nodes) {
        for (const other of object.dependentRequired.get(name) ?? []) all.add(other);
      }
    }
    return all;
  }

  private add(name: string): boolean {
    const { costs } = this.builder.tools;
    const nodes = this.memberNodes(name);
    const isRequired = this.required.has(name);
    if (!this.isAllowedName(name)) {
      if (isRequired) this.builder.fail(pointerOf(this.nodes), `the name '${name}' is not allowed`);
      return false;
    }
    if (!isRequired && costs.ofAll(nodes) === Infinity) return false;
    const before = this.builder.failure;
    const value = this.builder.build({ nodes, depth: this.wish.depth + 1 });
    if (value === NONE) {
      if (!isRequired) this.builder.failure = before;
      return false;
    }
    this.values.set(name, value);
    return true;
  }

  private addWithOthers(name: string): void {
    for (const one of this.closed([name])) if (!this.values.has(one)) this.add(one);
  }

  private memberNodes(name: string): SchemaNode[] {
    const own = this.nodes.flatMap((node) => memberNodes(node, name));
    const isSeen = own.length > 0 || this.nodes.some(({ object }) => object.properties.has(name));
    const unevaluated = isSeen ? [] : this.nodes.flatMap(({ object }) => object.unevaluated ?? []);
    return [...own, ...unevaluated];
  }

  private isAllowedName(name: string): boolean {
    const { validator } = this.builder.tools;
    return this.nodes.every(
      ({ object }) => object.names === undefined || validator.satisfies(object.names, name),
    );
  }

  /** Adds properties until there are enough: described ones first, then invented ones. */
  private fill(): boolean {
    const ease = this.builder.easeAt(this.wish.depth);
    const { isClosed } = this.builder.tools;
    const isFree = ease > 0 && !isClosed && !this.nodes.some(({ object }) => object.isDescribed);
    const invented = isFree ? 1 + this.builder.tools.random.integer(ease + 1) : 0;
    const wanted = Math.max(this.min, Math.min(this.max, this.required.size + invented));
    for (const { object } of this.nodes) {
      for (const name of object.properties.keys()) {
        if (this.values.size < this.min && !this.values.has(name)) this.addWithOthers(name);
      }
    }
    for (let i = 0; this.values.size < wanted && i < NAME_ATTEMPTS + wanted; i++) {
      this.builder.tools.budget.spend();
      const name = this.inventedName(i);
      if (name !== undefined && !this.values.has(name)) this.addWithOthers(name);
    }
    return this.values.size >= this.min;
  }

  /** A name that no schema describes: from a pattern, from `propertyNames`, or an ordinary word. */
  private inventedName(attempt: number): string | undefined {
    const { builder, nodes } = this;
    const patterns = nodes.flatMap(({ object }) => object.patterns);
    const chosen = patterns[attempt % (patterns.length + 1)];
    if (chosen !== undefined) {
      // A whole pattern can have only one text; after the first round a name need only contain a
      // match.
      const isFirstRound = attempt <= patterns.length;
      const { must, mustNot } = chosen.pattern.demands(isFirstRound ? 'whole' : 'anywhere');
      const bounds = { minLength: 0, maxLength: Infinity };
      const all = must.length === 0 ? [everything()] : must;
      const language = new StringLanguage({ must: all, mustNot, ...bounds });
      return language.sample(builder.tools.random, 8 + attempt);
    }
    const names = nodes.flatMap(({ object }) => object.names ?? []);
    if (names.length === 0)
      return writeName(builder.tools.random) + (attempt < 8 ? '' : String(attempt));
    spendWork(this.values.size);
    const before = builder.failure;
    const built = builder.build({
      nodes: [...names, TEXT],
      depth: this.wish.depth + 1,
      avoid: new Set([...this.values.keys()].map((name) => JSON.stringify(name))),
    });
    builder.failure = before;
    return typeof built === 'string' ? built : undefined;
  }
}
