import type { Tokenizer } from './tokenizers/tokenizer';

const BEYOND_ASCII = /[\u0080-\uffff]+/g;
/** A byte as two hexadecimal digits. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const DIGITS = Buffer.from('0123456789abcdef');
/**
 * Length in UTF-16 units from which a run is written into a buffer. Shorter runs are faster to
 * join.
 */
const LONG_RUN = 8;

/** `text` as the inside of a JSON string, in ASCII only, so that it can be written as latin1. */
export function escapeJson(text: string): string {
  return asciiJson(text).slice(1, -1);
}

/** `JSON.stringify` in ASCII only. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(BEYOND_ASCII, escapedRun);
}

function escapedRun(units: string): string {
  if (units.length >= LONG_RUN) return escapedLongRun(units);
  let escaped = '';
  for (let i = 0; i < units.length; i += 1) {
    const unit = units.charCodeAt(i);
    escaped += `\\u${HEX[unit >> 8]}${HEX[unit & 0xff]}`;
  }
  return escaped;
}

function escapedLongRun(units: string): string {
  const escaped = Buffer.alloc(6 * units.length, '\\u0000', 'latin1');
  for (let i = 0, at = 2; i < units.length; i += 1, at += 6) {
    const unit = units.charCodeAt(i);
    escaped[at] = DIGITS[unit >> 12]!;
    escaped[at + 1] = DIGITS[(unit >> 8) & 0xf]!;
    escaped[at + 2] = DIGITS[(unit >> 4) & 0xf]!;
    escaped[at + 3] = DIGITS[unit & 0xf]!;
  }
  return escaped.toString('latin1');
}

const cache = new WeakMap<Tokenizer, JsonFragments>();

/** The text of each token as the inside of a JSON string, made once per token and kept. */
export class JsonFragments {
  private readonly fragments: (string | undefined)[] = [];

  private constructor(private readonly tokenizer: Tokenizer) {
    this.fragments = new Array<string | undefined>(tokenizer.vocabSize);
  }

  static of(tokenizer: Tokenizer): JsonFragments {
    let fragments = cache.get(tokenizer);
    if (fragments === undefined) {
      fragments = new JsonFragments(tokenizer);
      cache.set(tokenizer, fragments);
    }
    return fragments;
  }

  get(id: number): string {
    return (this.fragments[id] ??= escapeJson(this.tokenizer.tokenText(id)));
  }
}
