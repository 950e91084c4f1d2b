import { assert } from '@baton/kernel';
import type { TokenSource } from './steered-tokens';
import type { Tokenizer } from './tokenizers/tokenizer';

const INNER = /^ \p{L}+$/u;
const BARE = /^\p{L}+$/u;
/**
 * Number of failed draws after which the next word is used, even if it does not stay one token.
 */
const MAX_REDRAWS = 32;
const pools = new WeakMap<Tokenizer, WordPool>();

/**
 * The words of letters in a vocabulary. It remembers which words stay one token when they are
 * encoded again.
 */
export class WordPool {
  /** Words with a leading space; all words where there are none. */
  readonly inner: Int32Array;
  /** Words without a leading space, for the start of a text. */
  readonly bare: Int32Array;
  private readonly stable = new Map<number, boolean>();

  private constructor(private readonly tokenizer: Tokenizer) {
    const texts = plainTexts(tokenizer);
    const matching = (pattern: RegExp): number[] =>
      texts.flatMap(([id, text]) => (pattern.test(text) ? id : []));
    const choices = [matching(INNER), matching(BARE), texts.map(([id]) => id)];
    const [inner = [], bare = [], any = []] = choices;
    assert(any.length > 0, 'a vocabulary has tokens that are text');
    this.inner = Int32Array.from([inner, bare, any].find((list) => list.length > 0)!);
    this.bare = Int32Array.from(bare.length > 0 ? bare : this.inner);
  }

  /** Made once per tokenizer: about 0.1 s for 200,000 tokens. */
  static of(tokenizer: Tokenizer): WordPool {
    let pool = pools.get(tokenizer);
    if (pool === undefined) pools.set(tokenizer, (pool = new WordPool(tokenizer)));
    return pool;
  }

  /** A word of the list; all are equally likely. */
  draw(words: Int32Array, unit: () => number): number {
    let id = words[0]!;
    for (let draw = 0; draw < MAX_REDRAWS; draw++) {
      id = words[Math.floor(unit() * words.length)]!;
      if (this.isStable(id)) return id;
    }
    return id;
  }

  private isStable(id: number): boolean {
    let isStable = this.stable.get(id);
    if (isStable === undefined) {
      const ids = this.tokenizer.encode(this.tokenizer.tokenText(id));
      isStable = ids.length === 1 && ids[0] === id;
      this.stable.set(id, isStable);
    }
    return isStable;
  }
}

/** Tokens that are whole characters. */
function plainTexts(tokenizer: Tokenizer): (readonly [id: number, text: string])[] {
  const texts: (readonly [number, string])[] = [];
  for (let id = 0; id < tokenizer.vocabSize; id++) {
    if (!tokenizer.hasToken(id) || tokenizer.special.has(id)) continue;
    const text = tokenizer.tokenText(id);
    if (text !== '' && !text.includes('\ufffd')) texts.push([id, text]);
  }
  return texts;
}

/** Random words of the whole vocabulary, as real tokens without meaning. */
export class RandomWords implements TokenSource {
  private isFirst: boolean;

  /** @param unit draws from [0, 1) */
  constructor(
    private readonly pool: WordPool,
    private readonly unit: () => number,
    startsBare: boolean,
  ) {
    this.isFirst = startsBare;
  }

  next(): number {
    const { pool, unit } = this;
    const words = this.isFirst ? pool.bare : pool.inner;
    this.isFirst = false;
    return pool.draw(words, unit);
  }
}
