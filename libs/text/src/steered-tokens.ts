import type { Tokenizer } from './tokenizers/tokenizer';

/** Tokens that a request favours or bans. */
export interface Steering {
  /** By token id, in [-100, 100]: added to the logarithm of a token's odds. */
  readonly bias: ReadonlyMap<number, number>;
  /** The allowed tokens. Undefined: all tokens are allowed. */
  readonly allowed: readonly number[] | undefined;
  /** Texts that must not occur in the output. */
  readonly badWords: readonly string[];
}

export interface TokenSource {
  next(): number;
}

/** Absolute bias that bans a token (-100) or excludes all others (100), as in OpenAI's API. */
const ABSOLUTE = 100;
/** Number of failed draws after which any other allowed token is used. */
const MAX_REDRAWS = 64;
const SPARE_TEXTS = ['\n', ' ', '.', 'a', '0', '!'];

/**
 * Draws tokens until one is acceptable. A token with a positive bias b replaces a drawn word with
 * odds e^b over the vocabulary's size (all tokens have equal odds before). A drawn token with a
 * negative bias b is dropped with a chance of 1 - e^b. A token that completes a bad word is never
 * taken.
 */
export class SteeredTokens implements TokenSource {
  private readonly allowed: readonly number[] | undefined;
  private readonly wanted: readonly number[];
  private readonly chance: number;
  private readonly isExclusive: boolean;
  private readonly badWords: readonly string[];
  private readonly tailLength: number;
  private tail = '';

  constructor(
    private readonly words: TokenSource,
    private readonly tokenizer: Tokenizer,
    private readonly steering: Steering,
    /** In [0, 1). */
    private readonly unit: () => number,
  ) {
    const { bias, badWords } = steering;
    this.allowed = plainOf(steering.allowed, tokenizer);
    const may = new Set(this.allowed);
    const isFree = this.allowed === undefined;
    const positive = [...bias].filter(([id, b]) => b > 0 && (isFree || may.has(id)));
    const absolute = positive.filter(([, b]) => b >= ABSOLUTE);
    this.wanted = (absolute.length > 0 ? absolute : positive).map(([id]) => id);
    const odds = positive.reduce((sum, [, b]) => sum + Math.exp(b), 0) / tokenizer.vocabSize;
    this.chance = absolute.length > 0 ? 1 : odds / (1 + odds);
    this.isExclusive = absolute.length > 0;
    this.badWords = badWords.filter((word) => word !== '');
    this.tailLength = this.badWords.reduce((most, word) => Math.max(most, word.length), 0);
  }

  next(): number {
    for (let draw = 0; draw < MAX_REDRAWS; draw++) {
      const id = this.draw();
      if (this.isDropped(id) || this.completesBadWord(id)) continue;
      return this.taken(id);
    }
    return this.taken(this.anyOther());
  }

  private draw(): number {
    const { allowed } = this;
    if (this.wanted.length > 0 && this.unit() < this.chance) return this.pick(this.wanted);
    return allowed === undefined ? this.words.next() : this.pick(allowed);
  }

  private isDropped(id: number): boolean {
    const bias = this.steering.bias.get(id) ?? 0;
    if (bias >= 0 || this.isExclusive) return false;
    return bias <= -ABSOLUTE || this.unit() >= Math.exp(bias);
  }

  private completesBadWord(id: number): boolean {
    if (this.badWords.length === 0) return false;
    const text = this.tail + this.tokenizer.tokenText(id);
    return this.badWords.some((word) => text.includes(word));
  }

  /** The token in place of a word when no word is acceptable. */
  private anyOther(): number {
    const spare = SPARE_TEXTS.flatMap((text) => this.tokenizer.encode(text)[0]!);
    const candidates = this.allowed ?? [...this.wanted, ...spare];
    const found = candidates.find((id) => !this.isBanned(id) && !this.completesBadWord(id));
    return found ?? candidates[0]!;
  }

  private isBanned(id: number): boolean {
    return (this.steering.bias.get(id) ?? 0) <= -ABSOLUTE;
  }

  private pick(ids: readonly number[]): number {
    return ids[Math.floor(this.unit() * ids.length)]!;
  }

  private taken(id: number): number {
    if (this.tailLength > 1) {
      const text = this.tail + this.tokenizer.tokenText(id);
      this.tail = text.slice(Math.max(0, text.length - this.tailLength + 1));
    }
    return id;
  }
}

/** Leaves out tokens of markup, except when there are no others. */
function plainOf(
  ids: readonly number[] | undefined,
  { special }: Tokenizer,
): readonly number[] | undefined {
  const plain = ids?.filter((id) => !special.has(id));
  return plain?.length === 0 ? ids : plain;
}
