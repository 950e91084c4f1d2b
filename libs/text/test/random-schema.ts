import { RandomStream } from '@baton/kernel';

type Schema = Record<string, unknown>;

const NAMES = ['a', 'b', 'name', 'x-y', '$ref', '1', 'é'];
const PATTERNS = ['^[a-z]+$', 'a', '^\\w{2,}$', '[0-9]$', '^(ab|cd)+$'];

/**
 * Schemas with many keywords. `around` makes one that a given value fulfils; `any` makes one that
 * may be impossible.
 */
export class RandomSchema {
  private readonly definitions: Schema = {};

  constructor(private readonly random: RandomStream) {}

  static of(seed: number): RandomSchema {
    return new RandomSchema(RandomStream.root(seed));
  }

  /** A document that at least one value fulfils. */
  possible(): Schema {
    const schema = this.around(this.value(3), 3);
    return { ...schema, $defs: { d: {}, ...this.definitions } };
  }

  /** A document of keywords drawn at random. */
  any(): Schema {
    return { ...this.anyOf(3), $defs: { d: this.anyOf(0) } };
  }

  private value(depth: number): unknown {
    const kind = this.random.integer(depth > 0 ? 7 : 5);
    if (kind === 0) return this.random.integer(200) - 100;
    if (kind === 1) return this.random.integer(1000) / 8;
    if (kind === 2) return this.pick(['', 'a', 'ab', 'cd', 'hello world', 'é😀', 'a1', 'zz9']);
    if (kind === 3) return this.random.integer(2) === 1;
    if (kind === 4) return null;
    const items = Array.from({ length: this.random.integer(4) }, () => this.value(depth - 1));
    if (kind === 5) return items;
    return Object.fromEntries(items.map((item) => [this.pick(NAMES), item]));
  }

  private around(value: unknown, depth: number): Schema {
    const schema = this.plain(value, depth);
    if (depth === 0) return schema;
    switch (this.random.integer(10)) {
      case 0:
        return { allOf: [schema, this.plain(value, depth - 1)] };
      case 1:
        return { anyOf: this.mixed(schema, this.anyOf(1)) };
      case 2:
        return { oneOf: this.mixed(schema, { type: this.otherType(value) }) };
      case 3:
        return { ...schema, not: { type: this.otherType(value) } };
      case 4:
        return { if: { type: this.otherType(value) }, then: false, else: schema };
      case 5: {
        const name = `e${Object.keys(this.definitions).length}`;
        this.definitions[name] = schema;
        return { $ref: `#/$defs/${name}` };
      }
      default:
        return schema;
    }
  }

  private mixed(a: Schema, b: Schema): Schema[] {
    return this.random.integer(2) === 0 ? [a, b] : [b, a];
  }

  private plain(value: unknown, depth: number): Schema {
    if (this.chance(0.1)) return this.chance(0.5) ? { const: value } : { enum: [value, 'other'] };
    if (Array.isArray(value)) return this.ofArray(value, depth);
    if (typeof value === 'object' && value !== null) {
      return this.ofObject(value as Record<string, unknown>, depth);
    }
    if (typeof value === 'number') return this.ofNumber(value);
    if (typeof value === 'string') return this.ofString(value);
    return { type: this.chance(0.5) ? typeOf(value) : [typeOf(value), 'string'] };
  }

  private ofNumber(value: number): Schema {
    const schema: Schema = {
      type: Number.isInteger(value) && this.chance(0.6) ? 'integer' : 'number',
    };
    if (this.chance(0.4)) schema['minimum'] = value - this.random.integer(3);
    if (this.chance(0.4)) schema['maximum'] = value + this.random.integer(3);
    if (this.chance(0.2)) schema['exclusiveMinimum'] = value - 1;
    if (this.chance(0.3)) schema['multipleOf'] = Number.isInteger(value) ? 1 : 0.125;
    return schema;
  }

  private ofString(value: string): Schema {
    const schema: Schema = { type: 'string' };
    const length = [...value].length;
    if (this.chance(0.4)) schema['minLength'] = Math.max(0, length - this.random.integer(2));
    if (this.chance(0.4)) schema['maxLength'] = length + this.random.integer(2);
    const fitting = PATTERNS.filter((pattern) => new RegExp(pattern, 'u').test(value));
    if (fitting.length > 0 && this.chance(0.6)) schema['pattern'] = this.pick(fitting);
    return schema;
  }

  private ofArray(value: readonly unknown[], depth: number): Schema {
    const schema: Schema = { type: 'array' };
    const prefix = value.slice(0, this.random.integer(value.length + 1));
    const rest = value.slice(prefix.length);
    if (prefix.length > 0)
      schema['prefixItems'] = prefix.map((item) => this.around(item, depth - 1));
    if (rest.length === 0 && this.chance(0.5)) schema['items'] = false;
    if (rest.length > 0 && this.chance(0.7)) {
      schema['items'] = { anyOf: rest.map((item) => this.around(item, depth - 1)) };
    }
    if (this.chance(0.4)) schema['minItems'] = value.length;
    if (this.chance(0.4)) schema['maxItems'] = value.length + this.random.integer(2);
    const isUnique = new Set(value.map((item) => JSON.stringify(item))).size === value.length;
    if (isUnique && this.chance(0.4)) schema['uniqueItems'] = true;
    if (value.length > 0 && this.chance(0.3)) schema['contains'] = this.plain(value.at(-1), 0);
    return schema;
  }

  private ofObject(value: Readonly<Record<string, unknown>>, depth: number): Schema {
    const names = Object.keys(value);
    const described = names.filter(() => this.chance(0.8));
    const properties = described.map((name) => [name, this.around(value[name], depth - 1)]);
    const schema: Schema = { type: 'object', properties: Object.fromEntries(properties) as Schema };
    if (this.chance(0.6)) schema['required'] = names.filter(() => this.chance(0.7));
    if (described.length === names.length && this.chance(0.5))
      schema['additionalProperties'] = false;
    if (this.chance(0.3)) schema['minProperties'] = names.length;
    if (this.chance(0.3)) schema['maxProperties'] = names.length;
    if (names.length > 1 && this.chance(0.3)) schema['dependentRequired'] = { [names[0]!]: names };
    return schema;
  }

  private anyOf(depth: number): Schema {
    const schema: Schema = {};
    const types = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'];
    if (this.chance(0.7)) schema['type'] = this.chance(0.7) ? this.pick(types) : types.slice(0, 3);
    if (this.chance(0.2)) schema['minimum'] = this.random.integer(10);
    if (this.chance(0.2)) schema['maximum'] = this.random.integer(10);
    if (this.chance(0.1)) schema['multipleOf'] = this.pick([0.1, 0.25, 2, 7]);
    if (this.chance(0.2)) schema['minLength'] = this.random.integer(5);
    if (this.chance(0.2)) schema['pattern'] = this.pick(PATTERNS);
    if (this.chance(0.1))
      schema['format'] = this.pick(['date', 'email', 'uuid', 'ipv4', 'date-time']);
    if (this.chance(0.1)) schema['enum'] = [1, 'a', null, [1], { a: 1 }];
    if (this.chance(0.2)) schema['required'] = [this.pick(NAMES)];
    if (depth === 0) return schema;
    const sub = (): Schema => this.anyOf(depth - 1);
    const member = (): Schema => (this.chance(0.1) ? { $ref: '#' } : sub());
    if (this.chance(0.4)) schema['properties'] = { [this.pick(NAMES)]: member(), b: member() };
    if (this.chance(0.1)) schema['patternProperties'] = { '^x': sub() };
    if (this.chance(0.2)) schema['additionalProperties'] = this.chance(0.5) ? false : sub();
    if (this.chance(0.2)) schema['items'] = member();
    if (this.chance(0.1)) schema['prefixItems'] = [sub(), sub()];
    if (this.chance(0.1)) schema['contains'] = sub();
    if (this.chance(0.1)) schema['minItems'] = this.random.integer(3);
    if (this.chance(0.1)) schema['uniqueItems'] = true;
    if (this.chance(0.1)) schema['allOf'] = [sub(), sub()];
    if (this.chance(0.1)) schema['anyOf'] = [sub(), sub()];
    if (this.chance(0.1)) schema['oneOf'] = [sub(), sub()];
    if (this.chance(0.1)) schema['not'] = sub();
    if (this.chance(0.1)) Object.assign(schema, { if: sub(), then: sub(), else: sub() });
    if (this.chance(0.1)) schema['$ref'] = '#/$defs/d';
    if (this.chance(0.05)) schema['propertyNames'] = { minLength: 2 };
    return schema;
  }

  private otherType(value: unknown): string {
    const others = ['string', 'boolean', 'null', 'array', 'object'];
    return this.pick(others.filter((type) => type !== typeOf(value)));
  }

  private chance(probability: number): boolean {
    return this.random.unit() < probability;
  }

  private pick<Item>(items: readonly Item[]): Item {
    return items[this.random.integer(items.length)]!;
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
