import type { OutputPlan, PlanInput, TextCut } from './output-plan';
import { RandomWords, WordPool } from './random-words';
import { SentenceGenerator } from './sentence-generator';
import { SteeredTokens, type TokenSource } from './steered-tokens';
import { StoppableTokens } from './stoppable-tokens';
import { vocabularyOf } from './vocabulary';

/** The tokens of one run, and how the run ended. */
export type WrittenTokens = Pick<OutputPlan, 'tokenIds' | 'endReason' | 'stopReason' | 'cut'>;

export interface SentencesWish {
  readonly input: PlanInput;
  /** Seed of the words. */
  readonly hash: number;
  /** At least 1. */
  readonly maxTokens: number;
  readonly minTokens: number;
  /** Whether the first word has no leading space. */
  readonly startsBare: boolean;
}

/**
 * Sentences up to the length from the length model (at least `minTokens`), then `stop`; or up to
 * `maxTokens`, then `length`. An end exactly at the limit is a `length`: the end token is not part
 * of the output and would need one more place. With `ignoreEos`, only the limit and stop conditions
 * end the text.
 */
export function writeSentences(wish: SentencesWish): WrittenTokens {
  const { input, hash, maxTokens, minTokens } = wish;
  const endAt = Math.max(1, minTokens, Math.round(input.lengthModel(input.seed, hash)));
  const endsByItself = !input.ignoreEos && endAt < maxTokens;
  const count = endsByItself ? endAt : maxTokens;
  const endReason = endsByItself ? 'stop' : 'length';
  const tokens = tokenSource(wish, endAt);
  if (input.stop.length > 0 || input.stopTokenIds.length > 0) {
    return new StoppableTokens(input, minTokens).run(tokens, { count, endReason });
  }
  const tokenIds = new Int32Array(count);
  for (let i = 0; i < count; i++) tokenIds[i] = tokens.next();
  const cut = input.steering === undefined ? undefined : spelledCut(input.tokenizer, tokenIds);
  return { tokenIds, endReason, stopReason: null, cut };
}

/**
 * Words that end with a full stop after `endAt` tokens. They are steered or random where the
 * request requires it.
 */
export function tokenSource(
  { input, hash, startsBare }: SentencesWish,
  endAt: number,
): TokenSource {
  const { steering, tokenizer } = input;
  const vocabulary = vocabularyOf(tokenizer);
  const sentences = new SentenceGenerator(vocabulary, hash % 2 ** 32, { endAt, startsBare });
  const unit = (): number => sentences.unit();
  const words =
    input.words === 'random'
      ? new RandomWords(WordPool.of(tokenizer), unit, startsBare)
      : sentences;
  return steering === undefined ? words : new SteeredTokens(words, tokenizer, steering, unit);
}

/**
 * The cut of tokens that may be parts of a character: the text is what each token decodes to by
 * itself.
 */
export function spelledCut(tokenizer: PlanInput['tokenizer'], ids: Int32Array): TextCut {
  let text = '';
  const ends = new Uint32Array(ids.length);
  ids.forEach((id, i) => {
    text += tokenizer.tokenText(id);
    ends[i] = text.length;
  });
  return { text, ends, heldBack: 0 };
}
