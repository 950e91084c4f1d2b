import { Pattern } from './regex/pattern';
import { RegexError } from './regex/regex-error';

export { RegexError as TextPatternError };

/**
 * A test whether a text contains a pattern, in time linear in the text. False for a text on which
 * the pattern is too large to be matched. Throws `TextPatternError` when the pattern cannot be
 * read.
 */
export function patternTest(source: string): (text: string) => boolean {
  const pattern = new Pattern(source);
  pattern.demands('anywhere');
  return (text) => {
    try {
      return pattern.matches(text, 'anywhere');
    } catch (error) {
      if (error instanceof RegexError) return false;
      throw error;
    }
  };
}

/**
 * Loads the parser and the automata of patterns: some 60 ms, which no request should hold a loop
 * for.
 */
export function loadPatterns(): void {
  patternTest('a')('');
}
