import type { Marker } from './markers';

/** Turns text into token ids and back. Pure and deterministic: equal text, equal ids. */
export interface Tokenizer {
  readonly name: string;
  /** One more than the highest id of the model's own; markers of other models lie above. */
  readonly vocabSize: number;
  /** Characters of the longest token. */
  readonly longestToken: number;
  readonly special: SpecialTokens;
  /**
   * Ids of plain text. What looks like a special token in `text` is encoded as ordinary characters.
   *
   * @param limit stops early: longer text gives exactly `limit + 1` ids
   */
  encode(text: string, limit?: number): number[];
  /** Text of ids; bytes that are not UTF-8 become U+FFFD, special tokens their names. */
  decode(ids: ArrayLike<number>): string;
  /**
   * Text of one token on its own. Throws `InvariantError` when the id is not of this vocabulary.
   */
  tokenText(id: number): string;
  tokenBytes(id: number): readonly number[];
  /** True when the id names a token (the vocabulary may have holes). */
  hasToken(id: number): boolean;
}

/** Ids that only a chat template or the end of a sequence may produce. */
export interface SpecialTokens {
  readonly endOfText: number;
  /** Of a marker, which is one token whether the vocabulary has it or not. */
  idOf(marker: Marker): number;
  has(id: number): boolean;
}
