import { type RandomStream, spendWork } from '@baton/kernel';
import { ADJECTIVES, NOUNS } from './word-lists';
import { codePointsOf } from './json';

export interface WordsWish {
  /** Code points. */
  readonly minLength: number;
  readonly maxLength: number;
  /** 0: the shortest, one word. */
  readonly ease: number;
}

/** A few words, with a length within the bounds: `quiet harbor`. */
export function writeWords(
  random: RandomStream,
  { minLength, maxLength, ease }: WordsWish,
): string {
  const wanted = ease === 0 ? 1 : 1 + random.integer(2 + ease);
  let text = '';
  for (let words = 0; words < wanted || text.length < minLength; words++) {
    spendWork(1);
    const list = words % 2 === 1 || wanted === 1 ? NOUNS : ADJECTIVES;
    text += (text === '' ? '' : ' ') + list[random.integer(list.length)]!;
    if (text.length >= maxLength) break;
  }
  return text.length <= maxLength ? text : shortened(text, maxLength);
}

/** One word in lower case, for names. */
export function writeName(random: RandomStream): string {
  return NOUNS[random.integer(NOUNS.length)]!;
}

/** Cuts a text to a length, without a blank at its end. */
function shortened(text: string, maxLength: number): string {
  const cut = text.slice(0, maxLength);
  return cut.endsWith(' ') && codePointsOf(cut) > 1 ? `${cut.slice(0, -1)}s` : cut;
}
