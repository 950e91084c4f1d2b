import type { TextCut } from './output-plan';
import type { Tokenizer } from './tokenizers/tokenizer';

const BEYOND_ASCII = /[^\u0000-\u007f]/;

export interface EncodedText {
  readonly tokenIds: Int32Array;
  /** Undefined: the text of each token is visible unchanged. */
  readonly cut: TextCut | undefined;
}

/** The tokens of a given text. A character of several tokens becomes visible with the last one. */
export function encodeText(tokenizer: Tokenizer, text: string, limit = Infinity): EncodedText {
  const all = tokenizer.encode(text, limit);
  const tokenIds = Int32Array.from(all.length > limit ? all.slice(0, limit) : all);
  if (!BEYOND_ASCII.test(text)) return { tokenIds, cut: undefined };
  const ends = new Uint32Array(tokenIds.length);
  let bytes = 0;
  let end = 0;
  let missing = 0;
  for (let i = 0; i < tokenIds.length; i++) {
    for (const byte of tokenizer.tokenBytes(tokenIds[i]!)) {
      bytes += 1;
      if (missing > 0) missing -= 1;
      else missing = trailingBytes(byte);
      // A character of four bytes in UTF-8 is a surrogate pair in UTF-16.
      if (missing === 0) end += bytes === 4 ? 2 : 1;
      if (missing === 0) bytes = 0;
    }
    ends[i] = end;
  }
  const spelled = tokenizer.decode(tokenIds);
  return { tokenIds, cut: { text: spelled.slice(0, end), ends, heldBack: 0 } };
}

/** The number of bytes that follow the first byte of a UTF-8 character. */
function trailingBytes(lead: number): number {
  if (lead >= 0xf0) return 3;
  if (lead >= 0xe0) return 2;
  return lead >= 0xc0 ? 1 : 0;
}
