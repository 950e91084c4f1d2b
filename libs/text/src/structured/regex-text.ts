import { RandomStream } from '@baton/kernel';
import { ConstraintError } from './constraint-error';
import { Pattern } from './regex/pattern';
import { RegexError } from './regex/regex-error';
import { everything } from './regex/automaton';
import { StringLanguage } from './regex/string-language';
import type { StructuredText, WriteOptions } from './structured-text';

/** Characters by which a text may exceed the shortest one, per degree of ease. */
const SLACK = 6;

/** Texts that match a whole pattern. */
export class RegexText implements StructuredText {
  private readonly pattern: Pattern;
  private readonly language: StringLanguage;

  /** Throws `ConstraintError` when the pattern cannot be read or matches nothing. */
  constructor(private readonly source: string) {
    try {
      this.pattern = new Pattern(source);
      const { must, mustNot } = this.pattern.demands('whole');
      const all = must.length === 0 ? [everything()] : must;
      this.language = new StringLanguage({ must: all, mustNot, minLength: 0, maxLength: Infinity });
    } catch (error) {
      throw asConstraint(error);
    }
    this.write(0, { ease: 0 });
  }

  accepts(text: string): boolean {
    try {
      return this.pattern.matches(text, 'whole');
    } catch (error) {
      if (error instanceof RegexError) return false;
      throw error;
    }
  }

  write(seed: number, { ease }: WriteOptions): string {
    const random = RandomStream.root(seed).stream('regex');
    try {
      const text = this.language.sample(random, ease * SLACK);
      if (text !== undefined) return text;
    } catch (error) {
      throw asConstraint(error);
    }
    throw new ConstraintError(`no text matches the pattern ${this.source.slice(0, 200)}`);
  }
}

function asConstraint(error: unknown): unknown {
  return error instanceof RegexError
    ? new ConstraintError(`the pattern cannot be used: ${error.message}`)
    : error;
}
