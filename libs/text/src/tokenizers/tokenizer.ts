import type { Marker } from './markers';

/** Turns text into token ids and back. Pure and deterministic: equal text, equal ids. */
export interface Tokenizer {
  readonly name: string;
  /**
   * One more than the highest id of the model's own tokens. Ids of other models' markers lie above.
   */
  readonly vocabSize: number;
  /** Characters of the longest token. */
  readonly longestToken: number;
  readonly special: SpecialTokens;
  /**
   * Ids of plain text. A special token in `text` is encoded as ordinary characters.
   *
   * @param limit maximum number of ids; a longer text gives exactly `limit + 1` ids
   */
  encode(text: string, limit?: number): number[];
  /** Text of ids. Bytes that are not UTF-8 become U+FFFD, special tokens become their names. */
  decode(ids: ArrayLike<number>): string;
  /** Text of one token by itself. Throws `InvariantError` for an id outside the vocabulary. */
  tokenText(id: number): string;
  tokenBytes(id: number): readonly number[];
  /** Whether the id has a token. The vocabulary may have holes. */
  hasToken(id: number): boolean;
}

/** Ids that only a chat template or the end of a sequence produces. */
export interface SpecialTokens {
  readonly endOfText: number;
  /** Names of the vocabulary's own special tokens. */
  readonly ownNames: readonly string[];
  /** The id of a marker, which is always one token, even if the model's vocabulary lacks it. */
  idOf(marker: Marker): number;
  has(id: number): boolean;
}
