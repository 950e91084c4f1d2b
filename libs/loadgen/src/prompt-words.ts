import { defaultTokenizer, vocabularyOf } from '@baton/text';
import type { ServerTokenizer } from './server-probe';

/** Minimum number of words. Fewer make prompts too similar. */
const LEAST_WORDS = 32;
/** Number of words after which the search ends. */
const ENOUGH_WORDS = 512;
/** Maximum number of requests to the server during the search. */
const MOST_QUESTIONS = 500;
const WORDS_AT_ONCE = 128;

/** The vocabulary of prompts. */
export interface PromptWords {
  /** Each is one token of the server's tokenizer in any place. */
  readonly words: readonly string[];
  /** Tokens that the server puts before every prompt. */
  readonly specialTokens: number;
  /** True when the server's own tokenizer has confirmed this. */
  readonly isConfirmed: boolean;
}

/**
 * Finds words from which prompts of an exact length can be written. Candidates are one token each
 * in o200k_base. Those with another count on the server are left out.
 */
export async function findPromptWords(
  tokenizer: Pick<ServerTokenizer, 'count'>,
): Promise<PromptWords> {
  const candidates = candidateWords();
  const [one, two] = [
    await tokenizer.count(candidates[0]!),
    await tokenizer.count(candidates[0]! + candidates[0]!),
  ];
  const unconfirmed = { words: candidates, specialTokens: 0, isConfirmed: false };
  if (one === undefined || two === undefined) return unconfirmed;
  const fitting = new FittingWords(tokenizer, Math.max(0, 2 * one - two));
  for (let at = 0; at < candidates.length && !fitting.isEnough; at += WORDS_AT_ONCE) {
    await fitting.add(candidates.slice(at, at + WORDS_AT_ONCE));
  }
  const { words, specialTokens } = fitting;
  return words.length < LEAST_WORDS ? unconfirmed : { words, specialTokens, isConfirmed: true };
}

function candidateWords(): string[] {
  const tokenizer = defaultTokenizer();
  const ids = new Set(vocabularyOf(tokenizer).inner.flatMap((part) => Array.from(part)));
  return [...ids].map((id) => tokenizer.tokenText(id));
}

/** Keeps the words that are one token each, by halving lists that have others. */
class FittingWords {
  readonly words: string[] = [];
  private questions = 0;

  constructor(
    private readonly tokenizer: Pick<ServerTokenizer, 'count'>,
    readonly specialTokens: number,
  ) {}

  get isEnough(): boolean {
    return this.words.length >= ENOUGH_WORDS;
  }

  async add(words: readonly string[]): Promise<void> {
    if (words.length === 0 || this.questions++ >= MOST_QUESTIONS) return;
    const count = await this.tokenizer.count(words.join(''));
    if (count === words.length + this.specialTokens) this.words.push(...words);
    else if (words.length > 1) {
      const half = words.length >> 1;
      await this.add(words.slice(0, half));
      await this.add(words.slice(half));
    }
  }
}
