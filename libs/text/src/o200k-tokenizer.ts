import { assert } from '@baton/kernel';
import ranks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { mergeBytes, type RankOf } from './byte-pair-merge';
import type { SpecialTokens, Tokenizer } from './tokenizer';

/** Special tokens of o200k_base, as tiktoken and gpt-tokenizer number them. */
const SPECIAL_NAMES = new Map([
  [199_999, '<|endoftext|>'],
  [200_000, '<|fim_prefix|>'],
  [200_001, '<|fim_middle|>'],
  [200_002, '<|fim_suffix|>'],
  [200_003, '<|im_start|>'],
  [200_004, '<|im_end|>'],
  [200_005, '<|im_sep|>'],
  [200_006, '<|endofprompt|>'],
]);

const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const CONTRACTION = `(?:'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE]))?`;
/** o200k_base's pre-tokenizer (openai/tiktoken, tiktoken_ext/openai_public.py). */
const PIECES = new RegExp(
  [
    String.raw`[^\r\n\p{L}\p{N}]?${UPPER}*${LOWER}+${CONTRACTION}`,
    String.raw`[^\r\n\p{L}\p{N}]?${UPPER}+${LOWER}*${CONTRACTION}`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
    String.raw`\s*[\r\n]+`,
    String.raw`\s+(?!\S)`,
    String.raw`\s+`,
  ].join('|'),
  'gu',
);

/**
 * A piece longer than this is cut before merging, so that one endless word cannot block the process; equal cuts in a row, as
 * in a run of one character, are merged once. Only such text can tokenise differently from tiktoken, by a token or two at each cut.
 */
const MAX_PIECE_BYTES = 1 << 16;

/** The vocabulary of GPT-4o and later, loaded once per process. */
export class O200kTokenizer implements Tokenizer {
  readonly name = 'o200k_base';
  readonly vocabSize = 200_007;
  readonly special: SpecialTokens = { endOfText: 199_999, imStart: 200_003, imEnd: 200_004 };
  /** Bytes of each token, one character per byte. */
  private readonly bytesOf: string[];
  private readonly rankOf: RankOf;

  constructor() {
    const idOf = new Map<string, number>();
    this.bytesOf = ranks.map((token) =>
      typeof token === 'string' ? toBytes(token) : String.fromCharCode(...token),
    );
    this.bytesOf.forEach((bytes, id) => idOf.set(bytes, id));
    for (const [id, name] of SPECIAL_NAMES) this.bytesOf[id] = name;
    this.rankOf = (bytes) => idOf.get(bytes);
  }

  encode(text: string, limit = Infinity): number[] {
    const ids: number[] = [];
    PIECES.lastIndex = 0;
    for (let piece = PIECES.exec(text); piece !== null; piece = PIECES.exec(text)) {
      const resumeAt = PIECES.lastIndex;
      this.encodePiece(toBytes(piece[0]), ids, limit);
      if (ids.length > limit) break;
      PIECES.lastIndex = resumeAt;
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
    return this.bytesOf[id] !== undefined;
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
    assert(bytes !== undefined, `token ${id} is not in the vocabulary`);
    return bytes;
  }
}

let shared: O200kTokenizer | undefined;

/** The process's tokenizer; the first call builds it (about 0.2 s and 60 MiB of resident memory, the rank table included). */
export function defaultTokenizer(): Tokenizer {
  shared ??= new O200kTokenizer();
  return shared;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

function toBytes(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

function fromBytes(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}
