import { spendWork } from '@baton/kernel';
import { mergeBytes, type RankOf } from './byte-pair-merge';
import { SpecialTokenTable } from './special-token-table';
import { SpelledTokens } from './spelled-tokens';
import { TokenTable } from './token-table';
import type { Tokenizer } from './tokenizer';
import { toBytes } from './utf8-bytes';

/** Tokens by rank: text if valid UTF-8, else bytes. The list may have holes. */
export type RankList = readonly (string | readonly number[] | undefined)[];

/** A vocabulary in tiktoken's format. */
export interface Ranks {
  readonly name: string;
  /** By rank. */
  readonly tokens: TokenTable;
  /** Global pattern that cuts a text into pieces. Each piece is merged separately. */
  readonly pieces: RegExp;
  /** Special tokens by id. */
  readonly special: ReadonlyMap<number, string>;
}

/**
 * Maximum size of a piece in bytes. A longer one is cut before merging, so that one very long word
 * cannot block the process. Equal cuts in a row, as in a run of one character, are merged once.
 * Only such text can differ from tiktoken, by one or two tokens at each cut.
 */
const MAX_PIECE_BYTES = 1 << 16;

/**
 * Maximum number of characters that one call cuts into pieces, because millions of them overflow
 * V8's stack.
 */
const MAX_PART = 1 << 20;

/** Units of `spendWork` for a piece: to cut it off, and to look it up. */
const PIECE_WORK = 0.5;

/** Byte-pair encoding over a table of ranks. */
export class RankedTokenizer extends SpelledTokens implements Tokenizer {
  readonly name: string;
  readonly vocabSize: number;
  private readonly rankOf: RankOf;
  private readonly pieces: RegExp;

  constructor({ name, tokens, pieces, special }: Ranks) {
    const vocabSize = Math.max(tokens.size, ...[...special.keys()].map((id) => id + 1));
    super(tokens, new SpecialTokenTable(special, vocabSize, ['<|endoftext|>']));
    this.name = name;
    this.pieces = pieces;
    this.vocabSize = vocabSize;
    this.rankOf = (bytes) => tokens.idOf(bytes);
  }

  encode(text: string, limit = Infinity): number[] {
    const ids: number[] = [];
    for (let from = 0; from < text.length && ids.length <= limit;) {
      from += this.encodePart(text, from, { ids, limit });
    }
    if (ids.length > limit) ids.length = limit + 1;
    return ids;
  }

  /** The pieces of a part of a text; the last one belongs to the next part. Its length is given. */
  private encodePart(
    text: string,
    from: number,
    { ids, limit }: { readonly ids: number[]; readonly limit: number },
  ): number {
    const end = from + MAX_PART;
    const isLast = end >= text.length;
    const part = text.slice(from, !isLast && isTrailing(text.charCodeAt(end)) ? end - 1 : end);
    const { pieces } = this;
    pieces.lastIndex = 0;
    for (let piece = pieces.exec(part); piece !== null; piece = pieces.exec(part)) {
      const resumeAt = pieces.lastIndex;
      if (!isLast && resumeAt === part.length && piece.index > 0) return piece.index;
      this.encodePiece(toBytes(piece[0]), ids, limit);
      if (ids.length > limit) break;
      pieces.lastIndex = resumeAt;
    }
    return part.length;
  }

  private encodePiece(bytes: string, ids: number[], limit: number): void {
    spendWork(PIECE_WORK);
    const whole = this.rankOf(bytes);
    if (whole !== undefined) {
      ids.push(whole);
      return;
    }
    let chunk = '';
    let merged: number[] = [];
    for (let at = 0; at < bytes.length && ids.length <= limit; at += MAX_PIECE_BYTES) {
      const next = bytes.slice(at, at + MAX_PIECE_BYTES);
      if (next !== chunk) mergeBytes(next, this.rankOf, (merged = []));
      chunk = next;
      for (const id of merged) ids.push(id);
    }
  }
}

/** The second half of a surrogate pair. */
function isTrailing(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

export function tokenTableOf(ranks: RankList): TokenTable {
  return TokenTable.of(Array.from(ranks, bytesIn));
}

function bytesIn(token: string | readonly number[] | undefined): string | undefined {
  if (token === undefined) return undefined;
  return typeof token === 'string' ? toBytes(token) : String.fromCharCode(...token);
}
