import { WordPool } from './random-words';
import type { Tokenizer } from './tokenizers/tokenizer';
import {
  ADJECTIVES,
  ADVERBS,
  CONJUNCTIONS,
  DETERMINERS,
  NOUNS,
  PREPOSITIONS,
  VERBS,
} from './structured/word-lists';

/** Parts of a sentence. They are small integers because the generator reads one per token. */
export const PART = {
  determiner: 0,
  adjective: 1,
  noun: 2,
  verb: 3,
  preposition: 4,
  adverb: 5,
  conjunction: 6,
} as const;

/**
 * Token ids of the words of simulated text. Each word is one token with its leading space, and
 * stays that token between other words, commas and full stops: the pre-tokenizer cuts before each
 * space, so encoding again gives the same ids.
 */
export interface Vocabulary {
  /** Words inside a sentence, by part. */
  readonly inner: readonly Int32Array[];
  /** First words of a sentence that follows another. */
  readonly openers: Int32Array;
  /** First words without a leading space: after a line break and at the start of a chat answer. */
  readonly bareOpeners: Int32Array;
  readonly comma: number;
  readonly fullStop: number;
  /**
   * A full stop with an empty line, as one token. If the tokenizer has no such token: the ordinary
   * full stop.
   */
  readonly paragraphEnd: number;
}

/** Limit of words that replace an empty list. */
const MOST_WORDS = 1_000;

const cache = new WeakMap<Tokenizer, Vocabulary>();

export function vocabularyOf(tokenizer: Tokenizer): Vocabulary {
  let vocabulary = cache.get(tokenizer);
  if (vocabulary === undefined) {
    vocabulary = buildVocabulary(tokenizer);
    cache.set(tokenizer, vocabulary);
  }
  return vocabulary;
}

/** The words used when a vocabulary has no word of a list. */
function anyWords(tokenizer: Tokenizer): Int32Array {
  return WordPool.of(tokenizer).inner.slice(0, MOST_WORDS);
}

function buildVocabulary(tokenizer: Tokenizer): Vocabulary {
  const single = (text: string): number | undefined => {
    const ids = tokenizer.encode(text);
    return ids.length === 1 ? ids[0] : undefined;
  };
  const tokensOf = (texts: readonly string[]): Int32Array => {
    const ids = Int32Array.from(texts.flatMap((text) => single(text) ?? []));
    return ids.length > 0 ? ids : anyWords(tokenizer);
  };
  const parts = [DETERMINERS, ADJECTIVES, NOUNS, VERBS, PREPOSITIONS, ADVERBS, CONJUNCTIONS];
  const capitals = DETERMINERS.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const fullStop = tokensOf(['.'])[0]!;
  return {
    inner: parts.map((list) => tokensOf(list.map((word) => ` ${word}`))),
    openers: tokensOf(capitals.map((word) => ` ${word}`)),
    bareOpeners: tokensOf(capitals),
    comma: tokensOf([','])[0]!,
    fullStop,
    paragraphEnd: single('.\n\n') ?? fullStop,
  };
}
