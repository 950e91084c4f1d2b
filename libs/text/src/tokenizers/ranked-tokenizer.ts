import { assert } from '@baton/kernel';
import { mergeBytes, type RankOf } from './byte-pair-merge';
import { SpecialTokenTable } from './special-token-table';
import type { Tokenizer } from './tokenizer';
import { fromBytes, toBytes } from './utf8-bytes';

/** A vocabulary of tiktoken's kind. */
export interface Ranks {
  readonly name: string;
  /** Tokens by rank, as text where they are UTF-8; there may be holes. */
  readonly tokens: readonly (string | readonly number[] | undefined)[];
  /** Cuts a text into the pieces that are merged, each by itself; global. */
  readonly pieces: RegExp;
  /** Special tokens by id. */
  readonly special: ReadonlyMap<number, string>;
}

/**
 * A piece longer than this is cut before merging, so that one endless word cannot block the
 * process; equal cuts in a row, as in a run of one character, are merged once. Only such text can
 * tokenise differently from tiktoken, by a token or two at each cut.
 */
const MAX_PIECE_BYTES = 1 << 16;

/** Byte-pair encoding over a table of ranks. */
export class RankedTokenizer implements Tokenizer {
  readonly name: string;
  readonly vocabSize: number;
  readonly longestToken: number;
  readonly special: SpecialTokenTable;
  /** Bytes of each token, one character per byte. */
  private readonly bytesOf: (string | undefined)[];
  private readonly rankOf: RankOf;
  private readonly pieces: RegExp;

  constructor({ name, tokens, pieces, special }: Ranks) {
    this.name = name;
    this.pieces = pieces;
    const idOf = new Map<string, number>();
    this.bytesOf = Array.from(tokens, bytesIn);
    this.bytesOf.forEach((bytes, id) => bytes !== undefined && idOf.set(bytes, id));
    this.rankOf = (bytes) => idOf.get(bytes);
    this.longestToken = this.bytesOf.reduce((most, one) => Math.max(most, one?.length ?? 0), 0);
    this.vocabSize = Math.max(tokens.length, ...[...special.keys()].map((id) => id + 1));
    this.special = new SpecialTokenTable(special, this.vocabSize, ['<|endoftext|>']);
  }

  encode(text: string, limit = Infinity): number[] {
    const ids: number[] = [];
    const { pieces } = this;
    pieces.lastIndex = 0;
    for (let piece = pieces.exec(text); piece !== null; piece = pieces.exec(text)) {
      const resumeAt = pieces.lastIndex;
      this.encodePiece(toBytes(piece[0]), ids, limit);
      if (ids.length > limit) break;
      pieces.lastIndex = resumeAt;
    }
    if (ids.length > limit) ids.length = limit + 1;
    return ids;
  }

  decode(ids: ArrayLike<number>): string {
    let bytes = '';
    for (let i = 0; i < ids.length; i++) bytes += this.bytes(ids[i] ?? -1);
    return fromBytes(bytes);
  }

  tokenText(id: number): string {
    return fromBytes(this.bytes(id));
  }

  tokenBytes(id: number): readonly number[] {
    return [...Buffer.from(this.bytes(id), 'latin1')];
  }

  hasToken(id: number): boolean {
    return this.bytesOf[id] !== undefined || this.special.has(id);
  }

  private encodePiece(bytes: string, ids: number[], limit: number): void {
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

  private bytes(id: number): string {
    const bytes = this.bytesOf[id];
    if (bytes !== undefined) return bytes;
    const name = this.special.nameOf(id);
    assert(name !== undefined, `token ${id} is not in the vocabulary`);
    return toBytes(name);
  }
}

function bytesIn(token: string | readonly number[] | undefined): string | undefined {
  if (token === undefined) return undefined;
  return typeof token === 'string' ? toBytes(token) : String.fromCharCode(...token);
}
