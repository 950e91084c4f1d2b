import type { Tokenizer } from './tokenizers/tokenizer';

const BEYOND_ASCII = /[\u0080-\uffff]/g;

/** `text` as the inside of a JSON string, in ASCII only, so that it can be written as latin1. */
export function escapeJson(text: string): string {
  return asciiJson(text).slice(1, -1);
}

/** `JSON.stringify` in ASCII only. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    BEYOND_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const cache = new WeakMap<Tokenizer, JsonFragments>();

/** Each token's text, ready to be put into a JSON string; made once per token and kept. */
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
