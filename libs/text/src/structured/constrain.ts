import { workSpent } from '@baton/kernel';
import { ConstraintError } from './constraint-error';
import { GrammarText } from './grammar/grammar-text';
import { checkDepth, type Json } from './json';
import { RegexText } from './regex-text';
import { SchemaText, type SchemaTextOptions } from './schema/schema-text';
import { structuralTagText } from './structural-tag';
import type { StructuredText, WriteOptions } from './structured-text';
import { choiceText } from './text-parts';

/**
 * A constraint on a text, in one form for OpenAI's `response_format`, vLLM's `structured_outputs`
 * and the arguments of functions.
 */
export type Constraint =
  | ({ readonly kind: 'schema'; readonly schema: Json } & SchemaTextOptions)
  /**
   * Arguments of a function: an object. It has only properties that the schema describes or
   * requires.
   */
  | { readonly kind: 'arguments'; readonly schema: Json }
  /** Any JSON object. */
  | ({ readonly kind: 'object' } & SchemaTextOptions)
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'grammar'; readonly grammar: string }
  | { readonly kind: 'structural-tag'; readonly tag: Json };

const ANY_OBJECT: Json = { type: 'object', minProperties: 1 };

/** Constraints that are kept: the most recently used. A benchmark sends one schema many times. */
const MAX_KEPT = 512;
/**
 * Limit of the work for all kept constraints, in units of `spendWork`: up to 50 MB of automata and
 * texts.
 */
const MAX_KEPT_WORK = 1_000_000;
const MAX_KEPT_CHARACTERS = 32_768;
/** Characters of a remembered text that take the memory of one unit. */
const CHARACTERS_PER_UNIT = 64;
/**
 * Texts kept per constraint: a prompt has at most 32 structured choices of its own, in up to four
 * degrees of detail.
 */
const MAX_TEXTS = 128;
const cache = new Map<string, RepeatedTexts>();

/**
 * Reads a constraint. Every text of the result meets it. Throws `ConstraintError` when the
 * constraint is malformed or cannot be met. Later calls never throw it.
 */
export function constrain(constraint: Constraint): StructuredText {
  checkDepth(constraint as unknown as Json);
  const key = JSON.stringify(constraint);
  const known = cache.get(key);
  cache.delete(key);
  const text = known ?? new RepeatedTexts(() => read(constraint));
  if (key.length <= MAX_KEPT_CHARACTERS) cache.set(key, text);
  forgetOldest();
  return text;
}

/** A constraint grows with its use, so every call weighs all of them. */
function forgetOldest(): void {
  let work = 0;
  for (const text of cache.values()) work += text.work;
  for (const [key, text] of cache) {
    if (cache.size <= MAX_KEPT && work <= MAX_KEPT_WORK) return;
    cache.delete(key);
    work -= text.work;
  }
}

function read(constraint: Constraint): StructuredText {
  switch (constraint.kind) {
    case 'schema':
      return new SchemaText(constraint.schema, constraint);
    case 'arguments':
      return new SchemaText(constraint.schema, { isObject: true, isClosed: true });
    case 'object':
      return new SchemaText(ANY_OBJECT, constraint);
    case 'regex':
      return new RegexText(constraint.pattern);
    case 'choice':
      if (constraint.choices.length === 0) throw new ConstraintError('no choice is given');
      return choiceText(constraint.choices);
    case 'grammar':
      return new GrammarText(constraint.grammar);
    case 'structural-tag':
      return structuralTagText(constraint.tag);
  }
}

/** Keeps the texts of the latest seeds. The choices of one prompt share them. */
class RepeatedTexts implements StructuredText {
  /** Work so far, in units of `spendWork`; the memory in use is a share of it. */
  work = 0;
  private readonly texts = new Map<string, string>();
  private readonly source: StructuredText;
  /** The text for the few seeds whose search ends at its work limit. */
  private readonly least: string;

  constructor(read: () => StructuredText) {
    this.source = this.counted(read);
    this.least = this.counted(() => this.source.write(0, { ease: 0 }));
  }

  write(seed: number, options: WriteOptions): string {
    const key = `${seed} ${options.ease}`;
    let text = this.texts.get(key);
    if (text === undefined) {
      text = this.counted(() => this.written(seed, options));
      if (this.texts.size >= MAX_TEXTS) this.texts.clear();
      if (text.length <= MAX_KEPT_CHARACTERS) this.texts.set(key, text);
      this.work += text.length / CHARACTERS_PER_UNIT;
    }
    return text;
  }

  accepts(text: string): boolean {
    return this.source.accepts?.(text) ?? false;
  }

  private written(seed: number, options: WriteOptions): string {
    try {
      return this.source.write(seed, options);
    } catch (error) {
      if (error instanceof ConstraintError) return this.least;
      throw error;
    }
  }

  private counted<Result>(act: () => Result): Result {
    const before = workSpent();
    const result = act();
    this.work += workSpent() - before;
    return result;
  }
}
