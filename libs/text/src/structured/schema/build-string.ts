import type { RandomStream } from '@baton/kernel';
import { ConstraintError } from '../constraint-error';
import type { Demands, PatternScope } from '../regex/pattern';
import { RegexError } from '../regex/regex-error';
import { everything } from '../regex/automaton';
import { StringLanguage } from '../regex/string-language';
import { writeWords } from '../write-words';
import { formatWriter } from './formats';
import type { SchemaNode } from './schema-node';

/** Characters by which a text of a pattern may exceed the shortest one, per degree of ease. */
const SLACK = 4;
/** Limit of characters of a text; no output has room for more. */
const MAX_LENGTH = 1_000_000;

export interface StringWish {
  readonly nodes: readonly SchemaNode[];
  readonly nots: readonly SchemaNode[];
  readonly random: RandomStream;
  /** 0: the shortest texts. */
  readonly ease: number;
}

/** Writes strings. The language of each combination of schemas is kept. */
export class StringBuilder {
  /** An error where the patterns of a combination are too large together. */
  private readonly languages = new Map<string, StringLanguage | ConstraintError>();

  /** A text that fulfils all patterns, formats and lengths. Undefined when no text was found. */
  build(wish: StringWish): string | undefined {
    const { nodes, random, ease } = wish;
    const minLength = Math.max(...nodes.map(({ string }) => string.minLength));
    const maxLength = Math.min(...nodes.map(({ string }) => string.maxLength));
    if (minLength > maxLength) return undefined;
    if (minLength > MAX_LENGTH) {
      throw new ConstraintError(`texts of ${minLength} characters are too long`, pointerOf(nodes));
    }
    if (!isPatterned(wish)) return writeWords(random, { minLength, maxLength, ease });
    // A text that matches as a whole is more readable than one that contains a match.
    for (const scope of ['whole', 'anywhere'] as const) {
      const text = this.language(wish, scope, { minLength, maxLength }).sample(
        random,
        ease * SLACK,
      );
      if (text !== undefined) return text;
    }
    return undefined;
  }

  private language(
    { nodes, nots }: StringWish,
    scope: PatternScope,
    lengths: { readonly minLength: number; readonly maxLength: number },
  ): StringLanguage {
    const key = [scope, ...[...nodes, ...nots].map(({ pointer }) => pointer)].join('\n');
    let language = this.languages.get(key);
    if (language === undefined) {
      language = languageOf({ nodes, nots }, scope, lengths);
      this.languages.set(key, language);
    }
    if (language instanceof ConstraintError) throw language;
    return language;
  }
}

function isPatterned({ nodes, nots }: StringWish): boolean {
  return (
    nots.some(isPlainPattern) ||
    nodes.some(
      ({ string }) => string.pattern !== undefined || formatWriter(string.format) !== undefined,
    )
  );
}

function languageOf(
  { nodes, nots }: Pick<StringWish, 'nodes' | 'nots'>,
  scope: PatternScope,
  lengths: { readonly minLength: number; readonly maxLength: number },
): StringLanguage | ConstraintError {
  try {
    const demands = nodes.flatMap(({ string }): Demands[] => [
      ...(string.pattern === undefined ? [] : [string.pattern.demands(scope)]),
      ...formatDemands(string.format),
    ]);
    const excluded = nots.filter(isPlainPattern).map((node) => node.string.pattern!);
    const must = demands.flatMap((one) => one.must);
    const mustNot = demands.flatMap((one) => one.mustNot);
    for (const pattern of excluded) {
      // A pattern with lookaheads cannot be excluded by excluding its parts.
      const { must: whole, mustNot: none } = pattern.demands('anywhere');
      if (whole.length === 1 && none.length === 0) mustNot.push(whole[0]!);
    }
    return new StringLanguage({
      must: must.length === 0 ? [everything()] : must,
      mustNot,
      ...lengths,
    });
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    return new ConstraintError(error.message, pointerOf(nodes));
  }
}

function formatDemands(format: string | undefined): Demands[] {
  const writer = formatWriter(format);
  return writer === undefined ? [] : [writer.demands('whole')];
}

/** Whether a schema restricts strings only, by a pattern alone. */
function isPlainPattern({ string, types, values, logic }: SchemaNode): boolean {
  const { minLength, maxLength, pattern, format } = string;
  const isOnlyPattern =
    pattern !== undefined && minLength === 0 && maxLength === Infinity && format === undefined;
  const isOfStrings = types === undefined || types.has('string');
  const { ref, allOf, anyOf, oneOf, not, when } = logic;
  const isPlain =
    allOf.length + anyOf.length + oneOf.length === 0 && (ref ?? not ?? when) === undefined;
  return isOnlyPattern && isOfStrings && isPlain && values === undefined;
}

/** Pointer of the first schema with keywords for strings. */
function pointerOf(nodes: readonly SchemaNode[]): string {
  const speaks = ({ string }: SchemaNode): boolean =>
    string.pattern !== undefined || string.format !== undefined || string.minLength > 0;
  return nodes.find(speaks)?.pointer ?? '';
}
