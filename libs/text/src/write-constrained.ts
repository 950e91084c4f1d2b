import { spendWork } from '@baton/kernel';
import { encodeText } from './encode-text';
import type { StructuredText } from './structured/structured-text';
import type { Tokenizer } from './tokenizers/tokenizer';
import { endAlone } from './write-given';
import type { WrittenTokens } from './write-sentences';

/**
 * Degrees of detail in the order of the attempts: the usual one first, leaner ones while the text
 * exceeds the limit.
 */
const USUAL_EASES = [2, 1, 0] as const;
const MOST_EASE = 3;
/** Characters that are encoded in the time of one step of an automaton. */
const CHARACTERS_PER_UNIT = 8;

export interface ConstrainedWish {
  readonly constraint: StructuredText;
  readonly seed: number;
  readonly maxTokens: number;
  readonly minTokens: number;
}

/**
 * A text under a constraint. It is whole and ends with `stop` when some text of the constraint fits
 * the limit. Otherwise it is the beginning of the leanest text and ends with `length`. It has fewer
 * than `minTokens` tokens only when the constraint's richest text has no more.
 */
export function writeConstrained(tokenizer: Tokenizer, wish: ConstrainedWish): WrittenTokens {
  const { constraint, seed, maxTokens, minTokens } = wish;
  const attempt = (ease: number): WrittenTokens => {
    const text = constraint.write(seed, { ease });
    if (text === '') return endAlone(tokenizer);
    // Encoding stops here, because a longer text is too long in any case.
    const most = (maxTokens + 1) * tokenizer.longestToken;
    const encoded = text.slice(0, most);
    spendWork(encoded.length / CHARACTERS_PER_UNIT);
    const { tokenIds, cut } = encodeText(tokenizer, encoded, maxTokens);
    // The end token also needs a place, so an end exactly at the limit is a cut.
    const isWhole = tokenIds.length < maxTokens && text.length <= most;
    return { tokenIds, cut, endReason: isWhole ? 'stop' : 'length', stopReason: null };
  };
  for (const ease of USUAL_EASES) {
    const written = attempt(ease);
    if (written.endReason === 'length' && ease > 0) continue;
    if (written.tokenIds.length >= minTokens) return written;
    const richer = attempt(MOST_EASE);
    const isBetter = richer.tokenIds.length > written.tokenIds.length;
    return isBetter && richer.endReason === 'stop' ? richer : written;
  }
  return attempt(0);
}
