import { mix, unitOf } from '@baton/kernel';
import { encodeText, type EncodedText } from './encode-text';
import { SteeredTokens, type TokenSource } from './steered-tokens';
import { StoppableTokens } from './stoppable-tokens';
import type { Tokenizer } from './tokenizers/tokenizer';
import { type SentencesWish, spelledCut, type WrittenTokens } from './write-sentences';

/** The text between a text and its repetition. */
const SEAM = '\n\n';

/**
 * A given text under the rules for sentences. The whole text ends with `stop`, a text cut by the
 * limit with `length`; stop conditions and steering apply. A text shorter than the request needs
 * (`ignore_eos`, `min_tokens`) is repeated. An empty text is the end token alone, which is not
 * visible.
 */
export function writeGiven(wish: SentencesWish, text: string): WrittenTokens {
  const { input, maxTokens, minTokens } = wish;
  const { tokenizer, ignoreEos, steering } = input;
  const own = encodeText(tokenizer, text, maxTokens);
  const wanted = ignoreEos ? maxTokens : Math.max(minTokens, own.tokenIds.length);
  if (wanted === 0) return endAlone(tokenizer);
  const count = Math.min(wanted, maxTokens);
  const endReason = !ignoreEos && wanted < maxTokens ? 'stop' : 'length';
  const encoded = own.tokenIds.length < count ? repeated(tokenizer, text, count) : own;
  const tokens = tokensOf(encoded, wish);
  const pieceOf = steering === undefined ? pieces(tokenizer, encoded) : undefined;
  if (input.stop.length > 0 || input.stopTokenIds.length > 0) {
    const limit = { count, endReason } as const;
    return new StoppableTokens(input, minTokens, pieceOf).run(tokens, limit);
  }
  const tokenIds = Int32Array.from({ length: count }, () => tokens.next());
  const cut = steering === undefined ? encoded.cut : spelledCut(tokenizer, tokenIds);
  return { tokenIds, endReason, stopReason: null, cut };
}

/** The end token alone. An output has at least one token, so an empty text is this one. */
export function endAlone({ special }: Tokenizer): WrittenTokens {
  const cut = { text: '', ends: Uint32Array.of(0), heldBack: 0 };
  return { tokenIds: Int32Array.of(special.endOfText), endReason: 'stop', stopReason: null, cut };
}

function repeated(tokenizer: Tokenizer, text: string, count: number): EncodedText {
  const once = Math.max(1, tokenizer.encode(text + SEAM).length);
  for (let times = Math.ceil(count / once) + 1; ; times *= 2) {
    const encoded = encodeText(tokenizer, (text + SEAM).repeat(times), count);
    if (encoded.tokenIds.length >= count) return encoded;
  }
}

/** The tokens of the text from its start, and again after its end. */
function tokensOf({ tokenIds }: EncodedText, { input, hash }: SentencesWish): TokenSource {
  let at = 0;
  const text = { next: () => tokenIds[at++ % tokenIds.length]! };
  if (input.steering === undefined) return text;
  let draws = 0;
  const unit = (): number => unitOf(mix(hash, draws++));
  return new SteeredTokens(text, input.tokenizer, input.steering, unit);
}

/** The text that each token makes visible. A character of several tokens comes with the last. */
function pieces(tokenizer: Tokenizer, { tokenIds, cut }: EncodedText): (at: number) => string {
  if (cut === undefined) return (at) => tokenizer.tokenText(tokenIds[at]!);
  return (at) => cut.text.slice(at === 0 ? 0 : cut.ends[at - 1], cut.ends[at]);
}
