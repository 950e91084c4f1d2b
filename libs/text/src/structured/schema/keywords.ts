import { ConstraintError } from '../constraint-error';
import { isJsonArray, isJsonObject, type Json, type JsonObject, type JsonType } from '../json';
import { Pattern } from '../regex/pattern';
import { RegexError } from '../regex/regex-error';

const TYPES: ReadonlySet<string> = new Set<JsonType>([
  'null',
  'boolean',
  'integer',
  'number',
  'string',
  'array',
  'object',
]);

/**
 * Reads the keywords of one schema object by type. Throws `ConstraintError`, with the place, for a
 * malformed keyword.
 */
export class Keywords {
  constructor(
    private readonly schema: JsonObject,
    readonly pointer: string,
  ) {}

  get(name: string): Json | undefined {
    return Object.hasOwn(this.schema, name) ? this.schema[name] : undefined;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.schema, name);
  }

  number(name: string): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.fault(name, 'must be a number');
  }

  /** Undefined where draft 4 has a boolean here. */
  bound(name: string): number | undefined {
    return typeof this.get(name) === 'boolean' ? undefined : this.number(name);
  }

  count(name: string, fallback: number): number {
    const value = this.number(name);
    if (value === undefined) return fallback;
    if (value >= 0 && Number.isInteger(value)) return value;
    throw this.fault(name, 'must be an integer of at least 0');
  }

  flag(name: string): boolean {
    const value = this.get(name) ?? false;
    if (typeof value === 'boolean') return value;
    throw this.fault(name, 'must be a boolean');
  }

  text(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.fault(name, 'must be a string');
  }

  list(name: string): readonly Json[] | undefined {
    const value = this.get(name);
    if (value === undefined || isJsonArray(value)) return value;
    throw this.fault(name, 'must be an array');
  }

  texts(name: string): readonly string[] {
    return this.textsOf(this.get(name) ?? [], name);
  }

  members(name: string): readonly (readonly [string, Json])[] {
    const value = this.get(name);
    if (value === undefined) return [];
    if (isJsonObject(value)) return Object.entries(value);
    throw this.fault(name, 'must be an object');
  }

  textsOf(value: Json, name: string): readonly string[] {
    if (isJsonArray(value) && value.every((item) => typeof item === 'string')) {
      return value as readonly string[];
    }
    throw this.fault(name, 'must be an array of strings');
  }

  /** `type` with OpenAPI's `nullable`. */
  types(): ReadonlySet<JsonType> | undefined {
    const value = this.get('type');
    if (value === undefined) return undefined;
    const names = isJsonArray(value) ? value : [value];
    if (names.length === 0 || !names.every((name) => TYPES.has(name as string))) {
      throw this.fault('type', `must be one or some of ${[...TYPES].join(', ')}`);
    }
    const types = new Set(names as readonly JsonType[]);
    if (this.get('nullable') === true) types.add('null');
    return types;
  }

  pattern(source: string, place: string): Pattern {
    try {
      const pattern = new Pattern(source);
      // Demands are made here, so that a pattern that is too large is refused with its place.
      pattern.demands('anywhere');
      return pattern;
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      throw this.fault(place, `cannot be read: ${error.message}`);
    }
  }

  /** @param place keyword, or the path below it */
  fault(place: string, what: string): ConstraintError {
    const name = place.split('/')[0] ?? place;
    return new ConstraintError(`${name} ${what}`, `${this.pointer}/${place}`);
  }
}

/** A name as a step of a JSON pointer. */
export function pointerStep(name: string): string {
  return name.replace(/~/g, '~0').replace(/\//g, '~1');
}
