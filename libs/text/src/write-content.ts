import { encodeText } from './encode-text';
import { type GivenAnswer, isAccepted } from './given-answer';
import { writeConstrained } from './write-constrained';
import { writeGiven } from './write-given';
import { type SentencesWish, writeSentences, type WrittenTokens } from './write-sentences';

export interface ContentWish extends SentencesWish {
  /** Seed of texts under a constraint. */
  readonly structuredSeed: number;
}

/**
 * The content of an answer: the given text where it meets the request's constraint, else a
 * simulated one.
 */
export function writeContent(
  wish: ContentWish,
  { content, isAsWritten }: GivenAnswer,
): WrittenTokens {
  const { input, maxTokens, minTokens, structuredSeed: seed } = wish;
  const { constraint, tokenizer } = input;
  if (constraint === undefined) {
    const isNothing = content === '' && (input.ignoreEos || minTokens > 1);
    if (content === undefined || isNothing) return writeSentences(wish);
    return writeGiven(wish, content);
  }
  const isGiven = content !== undefined && content !== '';
  if (!isGiven || !(isAsWritten === true || isAccepted(constraint, content))) {
    return writeConstrained(tokenizer, { constraint, seed, maxTokens, minTokens });
  }
  const { tokenIds, cut } = encodeText(tokenizer, content, maxTokens);
  const endReason = tokenIds.length < maxTokens ? 'stop' : 'length';
  return { tokenIds, cut, endReason, stopReason: null };
}
