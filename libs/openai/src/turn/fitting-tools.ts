/**
 * Characters of a text that are searched for words: enough for a question and a description, and a
 * limit on the time for a long text.
 */
const MAX_CHARACTERS = 16_384;
/**
 * Runs of letters and of digits. A capital begins a new word, as in `getWeather`, and each Chinese
 * character is a word.
 */
const WORD = new RegExp(
  [
    ...[String.raw`\p{Script=Han}`, String.raw`\p{Lu}+(?!\p{Ll})`, String.raw`\p{N}+`],
    String.raw`\p{Lu}?(?:(?!\p{Script=Han})[\p{Ll}\p{Lo}\p{Lm}\p{M}])+`,
  ].join('|'),
  'gu',
);
/** English words that occur in most questions and descriptions; some begin names of tools. */
const COMMON_WORDS = new Set(
  (
    'a about all an and any are as at be by call can could do does for from function get give ' +
    'has have he her his how i if in into is it its me my no not of on or our out set she so ' +
    'some tell that the their them then there these they this to tool up us use used was we were ' +
    'what when where which who why will with would you your'
  ).split(' '),
);

/** The name and the description of a tool. */
export interface DescribedTool {
  readonly name: string;
  readonly description?: string | null | undefined;
}

/**
 * The tools that fit a question: their name or description shares a word with it. Case, a plural
 * `s` and the most common English words are ignored.
 */
export function fittingTools<Tool extends DescribedTool>(
  tools: readonly Tool[],
  question: string,
): Tool[] {
  const requested = wordsOf(question);
  return tools.filter(({ name, description }) => {
    return [name, description ?? ''].some((text) => {
      return [...wordsOf(text)].some((word) => requested.has(word));
    });
  });
}

function wordsOf(text: string): Set<string> {
  const words = text.slice(0, MAX_CHARACTERS).match(WORD) ?? [];
  const plain = words.map((word) => word.toLowerCase()).filter((word) => !COMMON_WORDS.has(word));
  return new Set(plain.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)));
}
