import { RandomStream } from '@baton/kernel';
import { ConstraintError } from '../constraint-error';
import { checkDepth, type Json, writeJson } from '../json';
import type { StructuredText, WriteOptions } from '../structured-text';
import { StringBuilder } from './build-string';
import { SchemaCosts } from './costs';
import { InstanceBuilder } from './instance-builder';
import { readSchema } from './read-schema';
import { Validator } from './satisfies';
import { FREE, type SchemaNode } from './schema-node';
import { NONE } from './search';
import { WorkBudget } from './work-budget';

/** Limit of schemas visited and values tried for one text: a fifth of a second. */
const MAX_WORK = 60_000;
const MOST_EASE = 3;

export interface SchemaTextOptions {
  /** No blanks between the parts of the JSON. */
  readonly isCompact?: boolean;
  /** Objects get only properties that the schema describes or requires. */
  readonly isClosed?: boolean;
  /** The value is an object, even if the schema allows other types. */
  readonly isObject?: boolean;
}

const OBJECT: SchemaNode = { ...FREE, pointer: '', types: new Set(['object']) };

/**
 * JSON texts of a schema. Made once per request. A text depends only on the schema, the seed and
 * the ease.
 */
export class SchemaText implements StructuredText {
  private readonly roots: readonly SchemaNode[];
  private readonly costs: SchemaCosts;
  private readonly strings = new StringBuilder();
  /** Reason why the first attempt found no value. */
  private fault: ConstraintError | undefined;

  /** Throws `ConstraintError` when the schema is not well-formed or cannot be met. */
  constructor(
    schema: Json,
    private readonly options: SchemaTextOptions = {},
  ) {
    const root = readSchema(schema);
    this.roots = options.isObject === true ? [root, OBJECT] : [root];
    this.costs = new SchemaCosts(this.roots);
    this.value(0, 0);
  }

  write(seed: number, { ease }: WriteOptions): string {
    return writeJson(this.value(seed, ease), { isSpaced: this.options.isCompact !== true });
  }

  accepts(text: string): boolean {
    try {
      const value = JSON.parse(text) as Json;
      checkDepth(value);
      const validator = new Validator(new WorkBudget(MAX_WORK));
      return this.roots.every((root) => validator.satisfies(root, value));
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof ConstraintError) return false;
      throw error;
    }
  }

  /** A value that fulfils the schema. */
  value(seed: number, ease: number): Json {
    for (const [attempt, one] of easesFrom(ease).entries()) {
      const value = this.attempt(seed + attempt, { ease: one, work: MAX_WORK >> attempt });
      if (value !== undefined) return value;
    }
    throw this.fault ?? new ConstraintError('the schema cannot be met', '');
  }

  private attempt(seed: number, { ease, work }: Attempt): Json | undefined {
    const budget = new WorkBudget(work);
    const validator = new Validator(budget);
    const random = RandomStream.root(seed).stream('schema');
    const { costs, strings, options } = this;
    const tools = { random, costs, strings, budget, validator, ease };
    const builder = new InstanceBuilder({ ...tools, isClosed: options.isClosed === true });
    try {
      const value = builder.build({ nodes: this.roots, depth: 0 });
      if (value !== NONE) return value;
      const { reason, pointer } = builder.failure ?? {
        reason: 'no value is possible',
        pointer: '',
      };
      this.fault ??= new ConstraintError(reason, pointer);
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error;
      this.fault ??= error;
    }
    return undefined;
  }
}

interface Attempt {
  readonly ease: number;
  readonly work: number;
}

/** The given degree of ease, then lower ones, then higher ones, which have more ways to try. */
function easesFrom(ease: number): number[] {
  const leaner = Array.from({ length: ease + 1 }, (_, i) => ease - i);
  const richer = Array.from({ length: Math.max(0, MOST_EASE - ease) }, (_, i) => ease + 1 + i);
  return [...leaner, ...richer];
}
